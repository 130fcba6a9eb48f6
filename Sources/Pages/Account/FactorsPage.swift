/// The second factors of the account: authenticator apps and recovery codes.
public struct FactorsPage: HTMLPage {
    /// An authenticator app.
    public struct Factor: Hashable, Sendable {
        /// The id.
        public var id: String
        /// The name.
        public var name: String
        /// When it was added, in seconds since 1970.
        public var addedAt: Int64

        /// An authenticator app.
        public init(id: String, name: String, addedAt: Int64) {
            (self.id, self.name, self.addedAt) = (id, name, addedAt)
        }
    }

    /// An authenticator app that waits for its first code.
    public struct Pending: Hashable, Sendable {
        /// The id.
        public var id: String
        /// The seed and its picture, shown this once; nil: the page has shown them before.
        public var enrolment: FactorPage.Enrolment?

        /// An authenticator app to confirm.
        public init(id: String, enrolment: FactorPage.Enrolment?) { (self.id, self.enrolment) = (id, enrolment) }
    }

    /// What has happened.
    public enum Message: Hashable, Sendable {
        case pressAgain
        case added
        case removed
        case gone
        case wrongCode
        case clockDiffers
        case tooManyAttempts(seconds: Int)
        case blocked
        /// The mailbox of the account is not verified.
        case unverified
        /// There are too many authenticator apps.
        case full
        /// The policy demands the last one.
        case last

        var kind: Notice.Kind {
            switch self {
            case .pressAgain: .note
            case .added, .removed: .success
            case .gone, .wrongCode, .clockDiffers, .tooManyAttempts, .blocked, .unverified, .full, .last: .error
            }
        }
    }

    /// The account.
    public var header: AccountHeader
    /// The authenticator apps, oldest first.
    public var factors: [Factor]
    /// The recovery codes that are left.
    public var codesLeft: Int
    /// The authenticator app to confirm; nil: none.
    public var pending: Pending?
    /// New recovery codes, shown this once.
    public var codes: [String]
    /// What has happened.
    public var message: Message?

    /// A page.
    public init(
        header: AccountHeader, factors: [Factor] = [], codesLeft: Int = 0, pending: Pending? = nil,
        codes: [String] = [], message: Message? = nil
    ) {
        (self.header, self.factors, self.codesLeft, self.pending) = (header, factors, codesLeft, pending)
        (self.codes, self.message) = (codes, message)
    }

    /// The whole document.
    public func html(in language: PageLanguage) -> HTML {
        let words = language.words
        return header.page(
            .security, language, isError: message?.kind == .error, notice: notice(words),
            content: """
                \(codes.isEmpty ? nil : newCodes(words))\(pending.map { confirmation($0, words) })\
                \(pending == nil ? list(words) : nil)\
                <p><a href="\(PagePath.accountSecurity)">\(words.security)</a></p>
                """)
    }

    private func notice(_ words: any Words) -> Notice? {
        message.map { message in
            let text =
                switch message {
                case .pressAgain: words.pressAgain
                case .added: words.factorAdded
                case .removed: words.factorRemoved
                case .gone: words.factorGone
                case .wrongCode: words.factorWrong
                case .clockDiffers: words.factorClock
                case .tooManyAttempts(let seconds): words.tooManyAttempts(seconds: seconds)
                case .blocked: words.factorBlocked
                case .unverified: words.factorUnverified
                case .full: words.factorFull
                case .last: words.factorLast
                }
            return Notice(kind: message.kind, text: "\(text)")
        }
    }

    private func newCodes(_ words: any Words) -> HTML {
        """
        <section><h2>\(words.recoveryCodes)</h2>
        <p>\(words.recoveryCodesShown)</p>
        <ul class="list">
        \(codes.map { "<li><code>\($0)</code></li>\n" as HTML })</ul></section>

        """
    }

    private func confirmation(_ pending: Pending, _ words: any Words) -> HTML {
        let field = TextField(
            field: .code, label: words.factorNewCode, autocomplete: "one-time-code",
            isWrong: message == .wrongCode || message == .clockDiffers, hasFocus: true)
        let form = Controls.form(
            .accountFactors, header.form,
            """
            \(Controls.hidden(.act, "confirm"))\(Controls.hidden(.factor, pending.id))
            \(field.html)\(Controls.button(words.goOn))
            """)
        return """
            <section><h2>\(words.factorAddTitle)</h2>
            \(pending.enrolment.map { $0.html(words, lead: words.factorScan) })\(form)</section>

            """
    }

    private func list(_ words: any Words) -> HTML {
        let items: HTML =
            factors.isEmpty
            ? "<p>\(words.factorNone)</p>\n"
            : "<p>\(words.factorBody)</p>\n<ul class=\"list\">\n\(factors.map { item($0, words) })</ul>\n"
        let add = Controls.form(
            .accountFactors, header.form,
            "\(Controls.hidden(.act, "add"))\(Controls.button(words.factorAdd, factors.isEmpty ? .primary : .secondary))"
        )
        return """
            <section><h2>\(words.factors)</h2>
            \(items)\(add)</section>
            \(factors.isEmpty ? nil : recovery(words))
            """
    }

    private func item(_ factor: Factor, _ words: any Words) -> HTML {
        let name = DisplayName(factor.name)
        let content: HTML = """
            \(Controls.hidden(.factor, factor.id))<p><strong>\(name)</strong> · \(words.passkeySince) \
            \(Controls.day(factor.addedAt, words))</p>
            <details class="ask"><summary>\(words.factorRemove)\u{A0}…</summary>
            <p>\(words.factorRemoveBody)</p>
            <button class="danger" name="\(FormField.act)" value="remove">\(words.factorRemove)</button></details>
            """
        return "<li>\(Controls.form(.accountFactors, header.form, content))</li>\n"
    }

    private func recovery(_ words: any Words) -> HTML {
        let form = Controls.form(
            .accountFactors, header.form,
            "\(Controls.hidden(.act, "codes"))\(Controls.button(words.recoveryCodesMake, .secondary))")
        return """
            <section><h2>\(words.recoveryCodes)</h2>
            <p>\(words.recoveryCodesLeft(codesLeft))</p>
            \(form)</section>

            """
    }
}
