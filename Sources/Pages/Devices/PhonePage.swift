/// The page on which a login with the phone waits: a QR code and a link, then two digits, then the end. `live.js` follows
/// the events of the server and shows the sentence of each; without script the page renews itself.
public struct PhonePage: HTMLPage {
    /// What has happened so far. The raw values are the names of the server-sent events.
    public enum State: String, CaseIterable, Sendable {
        /// No phone has scanned the code. Data of the event: the number of the picture, which is its query.
        case waiting
        /// A phone has scanned the code.
        case scanned
        /// The number is typed on the phone. Data: two digits.
        case number
        /// The number on the phone was right, and the phone asks for more.
        case confirmed
        /// The app was opened by the link of the page, and leads back to the browser at the end.
        case opened
        /// The phone has approved: the page submits its last form.
        case approved
        /// The browser was let in, from this page or from another one.
        case finished
        /// The phone has declined.
        case cancelled
        /// Nothing happened for too long.
        case timedOut = "timed_out"
        /// The number was wrong.
        case wrongNumber = "wrong_number"
        /// Two phones have scanned the code.
        case contested
        /// The server failed.
        case failed

        /// Whether only a new code helps.
        var isOver: Bool {
            switch self {
            case .waiting, .scanned, .number, .confirmed, .opened, .approved, .finished: false
            case .cancelled, .timedOut, .wrongNumber, .contested, .failed: true
            }
        }

        /// The states in which only a new code helps.
        static let over = allCases.filter(\.isOver).map(\.rawValue).joined(separator: " ")

        func sentence(_ words: any Words) -> String {
            switch self {
            case .waiting: words.phoneWaiting
            case .scanned: words.phoneScanned
            case .number: words.phoneNumber
            case .confirmed: words.phoneConfirmed
            case .opened: words.phoneOpened
            case .approved: words.phoneApproved
            case .finished: words.phoneFinished
            case .cancelled: words.phoneDenied
            case .timedOut: words.phoneTimedOut
            case .wrongNumber: words.phoneWrongNumber
            case .contested: words.phoneContested
            case .failed: words.phoneFailed
            }
        }
    }

    /// The app to sign in to.
    public var app: PageApp?
    /// The hidden fields.
    public var form: FormState
    /// The picture of the QR code; nil: there is no library that draws it.
    public var image: PagePath?
    /// Opens the app on this device.
    public var link: PageURL?
    /// What has happened so far.
    public var state: State
    /// Two digits, in the state `number`.
    public var number: String?
    /// The stream of server-sent events.
    public var events: PagePath
    /// This page again, for browsers without script.
    public var again: PagePath
    /// Takes the approved login (POST) and leads to the app.
    public var finish: PagePath
    /// The login page with the other ways.
    public var otherWays: PagePath

    /// A page that waits.
    public init(
        app: PageApp?, form: FormState, image: PagePath?, link: PageURL?, state: State, number: String? = nil,
        events: PagePath, again: PagePath, finish: PagePath, otherWays: PagePath
    ) {
        self.app = app
        self.form = form
        self.image = image
        self.link = link
        self.state = state
        self.number = number
        self.events = events
        self.again = again
        self.finish = finish
        self.otherWays = otherWays
    }

    /// The whole document.
    public func html(in language: PageLanguage) -> HTML {
        let words = language.words
        return PageFrame(
            words: words, language: language, title: words.phoneTitle, app: app, isError: state.isOver,
            modules: [.live], renewsWithoutScript: !state.isOver && ![.approved, .finished].contains(state),
            ways: [Controls.link(otherWays, words.otherWays)],
            content: """
                <h1>\(words.phoneTitle)</h1>
                <div id="live" class="live" data-events="\(events)" data-state="\(state.rawValue)">
                \(code(words))<output class="number" id="number" data-for="number"\(attribute: "hidden", if: !(state == .number))>\
                \(DisplayName(number ?? "", max: 2))</output>
                <div role="status">
                \(State.allCases.map { sentence($0, words) })</div>
                <div data-for="approved"\(attribute: "hidden", if: !(state == .approved))>\
                \(Controls.form(finish, form, Controls.button(words.goOn), id: "finish"))</div>
                <div id="over" data-for="\(State.over)"\(attribute: "hidden", if: !(state.isOver))>\
                \(Controls.form(.loginPhone, form, Controls.button(words.phoneNewCode)))</div>
                </div>
                <p class="again" id="again">\(Controls.link(again, words.phoneCheckAgain))</p>
                """
        ).html
    }

    private func code(_ words: any Words) -> HTML {
        let picture: HTML? = image.map { path in
            """
            <div><img id="code" class="qr" src="\(path)" alt="\(words.phoneImage)" width="232" height="232">
            <p>\(words.phoneScan)</p></div>

            """
        }
        // A narrow window is that of a phone, which cannot scan its own picture: there the button comes first.
        return """
            <div class="code-or-app" data-for="waiting"\(attribute: "hidden", if: state != .waiting)>
            \(link.map { Controls.linkButton($0, "\(words.phoneOpenApp)", .secondary) + "\n" })\(picture)\
            <p class="hint">\(words.phoneOnlyHere)</p></div>

            """
    }

    private func sentence(_ one: State, _ words: any Words) -> HTML {
        "<p data-for=\"\(one.rawValue)\"\(attribute: "hidden", if: !(one == state))>\(one.sentence(words))</p>\n"
    }
}
