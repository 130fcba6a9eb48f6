/// Asks for the user code that a device shows (RFC 8628 section 3.3).
public struct DeviceCodePage: HTMLPage {
    /// What was wrong with the form.
    public enum Message: Hashable, Sendable {
        /// The token of the form was stale.
        case pressAgain
        /// The code is unknown, used or expired.
        case unknownCode
        /// Too many attempts from this address.
        case tooManyAttempts(seconds: Int)
        /// The device is too far away for the rule of this server.
        case elsewhere
    }

    /// The hidden fields.
    public var form: FormState
    /// The code to begin with, from `verification_uri_complete` or from the form that was refused.
    public var code: String
    /// What was wrong.
    public var message: Message?

    /// A page that asks for a code.
    public init(form: FormState, code: String = "", message: Message? = nil) {
        self.form = form
        self.code = code
        self.message = message
    }

    /// The whole document.
    public func html(in language: PageLanguage) -> HTML {
        let words = language.words
        let field = TextField(
            field: .userCode, label: words.deviceCode, value: code, autocomplete: "off", hint: words.deviceCodeHint,
            isWrong: message == .unknownCode, hasFocus: true, isCode: true)
        return PageFrame(
            words: words, language: language, title: words.deviceTitle,
            isError: message != nil && message != .pressAgain, ways: [Controls.link(.account, words.yourAccount)],
            content: """
                <h1>\(words.deviceTitle)</h1>
                <p class="lead">\(words.deviceBody)</p>
                \(notice(words)?.html)\(Controls.form(.device, form, field.html + Controls.button(words.goOn)))
                """
        ).html
    }

    private func notice(_ words: any Words) -> Notice? {
        switch message {
        case .pressAgain?: Notice(kind: .note, text: "\(words.pressAgain)")
        case .unknownCode?: Notice(kind: .error, text: "\(words.deviceCodeUnknown)")
        case .tooManyAttempts(let seconds)?:
            Notice(kind: .error, text: "\(words.tooManyAttempts(seconds: seconds))")
        case .elsewhere?: Notice(kind: .error, text: "\(words.deviceElsewhere)")
        case nil: nil
        }
    }
}

/// Shows what a device asks for, and takes the decision. Declining comes first and is as large as approving.
public struct DeviceReviewPage: HTMLPage {
    /// The decision that approves.
    public static let approving = "approve"

    /// The app on the device.
    public var app: PageApp
    /// The hidden fields.
    public var form: FormState
    /// The code, to compare with the device.
    public var code: String
    /// What the device says of itself: its `User-Agent`, or a name.
    public var device: String?
    /// City and country of its address.
    public var place: String?
    /// Seconds since 1970 at which the device asked.
    public var askedAt: Int64
    /// The scopes that the device asks for.
    public var scopes: [String]
    /// Whether the token of the form was stale.
    public var isStale: Bool

    /// A page for a decision.
    public init(
        app: PageApp, form: FormState, code: String, device: String?, place: String?, askedAt: Int64,
        scopes: [String] = [], isStale: Bool = false
    ) {
        self.app = app
        self.form = form
        self.code = code
        self.device = device
        self.place = place
        self.askedAt = askedAt
        self.scopes = scopes
        self.isStale = isStale
    }

    /// The whole document.
    public func html(in language: PageLanguage) -> HTML {
        let words = language.words
        let buttons = Controls.decision(on: code, approving: Self.approving, words)
        return PageFrame(
            words: words, language: language, title: words.deviceReviewTitle, app: app, account: .device,
            content: """
                <h1>\(words.deviceReviewTitle)</h1>
                <p class="lead">\(words.deviceReviewBody(DisplayName(app.name)))</p>
                \(isStale ? Notice(kind: .note, text: "\(words.pressAgain)").html : nil)\(facts(words))
                <p class="warning">\(words.deviceReviewWarning)</p>
                \(Controls.form(.deviceDecision, form, buttons))
                """
        ).html
    }

    private func facts(_ words: any Words) -> HTML {
        """
        <dl class="box">
        <dt>\(words.code)</dt><dd class="code">\(DisplayName(code, max: 12))</dd>
        \(device.map { "<dt>\(words.device)</dt><dd>\(DisplayName($0, max: 120))</dd>\n" as HTML })\
        <dt>\(words.place)</dt><dd>\(place.map { "\(DisplayName($0))" } ?? "\(words.unknownPlace)" as HTML)</dd>
        <dt>\(words.askedAt)</dt><dd>\(Controls.time(askedAt, words))</dd>
        \(access(words).map { "<dt>\(words.access)</dt><dd>\($0)</dd>\n" as HTML })</dl>
        """
    }

    /// The largest number of scopes that are shown.
    private static let scopesMax = 12

    /// One line for each scope. The words of an operator's own scopes are shown as they are.
    private func access(_ words: any Words) -> HTML? {
        let lines = scopes.prefix(Self.scopesMax).map { scope -> HTML in
            words.scope(scope).map { "\($0)" } ?? "\(DisplayName(scope))"
        }
        guard let first = lines.first else { return nil }
        return HTML([first] + lines.dropFirst().map { "<br>" + $0 })
    }
}

/// Asks once more before a device in another country is let in, because the device of a relayed code is not beside the user.
public struct DeviceAbroadPage: HTMLPage {
    /// The decision that approves.
    public static let approving = "approve_abroad"

    /// The app on the device.
    public var app: PageApp
    /// The hidden fields.
    public var form: FormState
    /// The code, to compare with the device.
    public var code: String
    /// City and country of the device.
    public var place: String?
    /// City and country of this browser.
    public var ownPlace: String?

    /// A page for a decision.
    public init(app: PageApp, form: FormState, code: String, place: String?, ownPlace: String?) {
        self.app = app
        self.form = form
        self.code = code
        self.place = place
        self.ownPlace = ownPlace
    }

    /// The whole document.
    public func html(in language: PageLanguage) -> HTML {
        let words = language.words
        let unknown = "\(words.unknownPlace)" as HTML
        return PageFrame(
            words: words, language: language, title: words.deviceAbroadTitle, app: app, account: .device,
            content: """
                <h1>\(words.deviceAbroadTitle)</h1>
                <dl class="box">
                <dt>\(words.device)</dt><dd>\(place.map { "\(DisplayName($0))" } ?? unknown)</dd>
                <dt>\(words.ownPlace)</dt><dd>\(ownPlace.map { "\(DisplayName($0))" } ?? unknown)</dd></dl>
                <p class="warning">\(words.deviceAbroadWarning)</p>
                \(Controls.form(.deviceDecision, form, Controls.decision(on: code, approving: Self.approving, words)))
                """
        ).html
    }
}

extension Controls {
    /// The two buttons of a decision about a device. Declining comes first and is as large as approving.
    fileprivate static func decision(on code: String, approving: String, _ words: any Words) -> HTML {
        """
        \(hidden(.userCode, code))
        <div class="pair">\(button(.decision, "decline", words.decline, .secondary))
        \(button(.decision, approving, words.approve, .secondary))</div>
        """
    }
}

/// The decision about a device is taken.
public struct DeviceDonePage: HTMLPage {
    /// The app on the device.
    public var app: PageApp
    /// Whether the device was let in.
    public var isApproved: Bool

    /// A confirmation.
    public init(app: PageApp, isApproved: Bool) {
        self.app = app
        self.isApproved = isApproved
    }

    /// The whole document.
    public func html(in language: PageLanguage) -> HTML {
        let words = language.words
        let title = isApproved ? words.deviceApproved : words.deviceDeclined
        let body = isApproved ? words.deviceApprovedBody(DisplayName(app.name)) : "\(words.deviceDeclinedBody)"
        return PageFrame(
            words: words, language: language, title: title, app: app,
            content: """
                \(isApproved ? "<span class=\"tick\" aria-hidden=\"true\"></span>\n" : nil)<h1>\(title)</h1>
                <p class="lead">\(body)</p>
                \(Controls.linkButton(PageURL(.account), "\(words.yourAccount)", .secondary))
                """
        ).html
    }
}
