/// After a login by password, the offer of a passkey for the next time. Either button goes on to the app.
public struct PasskeyOfferPage: HTMLPage {
    /// The app that waits.
    public var app: PageApp?
    /// The hidden fields.
    public var form: FormState
    /// The JSON for `PublicKeyCredential.parseCreationOptionsFromJSON`.
    public var options: String
    /// Whether a passkey was refused.
    public var hasFailed: Bool

    /// An offer.
    public init(app: PageApp?, form: FormState, options: String, hasFailed: Bool = false) {
        self.app = app
        self.form = form
        self.options = options
        self.hasFailed = hasFailed
    }

    /// The whole document.
    public func html(in language: PageLanguage) -> HTML {
        let words = language.words
        let notice = hasFailed ? Notice(kind: .error, text: "\(words.passkeyNotAdded)") : nil
        return PageFrame(
            words: words, language: language, title: words.offerTitle, app: app, isError: hasFailed,
            modules: [.passkeys],
            content: """
                <h1>\(words.offerTitle)</h1>
                \(notice?.html)<p class="lead">\(words.offerBody)</p>
                \(PasskeyForm(path: .loginOffer, state: form, options: options).html(words))\
                \(Controls.form(.loginOffer, form, Controls.button(words.notNow, .secondary)))
                """
        ).html
    }
}

/// The button that makes a passkey. It is hidden until `passkeys.js` has found that the browser can make one.
struct PasskeyForm {
    /// The path that takes the registration.
    let path: PagePath
    /// The hidden fields.
    let state: FormState
    /// The options; nil: the button sends the form without a passkey.
    let options: String?
    /// Further hidden fields.
    var more: HTML?

    func html(_ words: any Words) -> HTML {
        let button: HTML =
            options.map { options in
                """
                <button type="button" class="\(look)" data-options="\(options)">\(words.passkeyAdd)</button>
                """
            } ?? "<button class=\"\(look)\">\(words.passkeyAdd)</button>"
        let content: HTML = """
            \(more)\(Controls.hidden(.credential, ""))
            <p id="passkey-here" role="status" hidden>\(words.passkeyHere)</p>\(button)
            """
        return "<div hidden>\(Controls.form(path, state, content, id: "add-passkey"))</div>\n"
    }

    private var look: String { (path == .loginOffer ? Controls.Look.primary : .secondary).rawValue }
}
