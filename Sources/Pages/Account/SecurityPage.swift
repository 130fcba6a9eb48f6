/// A passkey of the account. Times are seconds since 1970.
public struct AccountPasskey: Hashable, Sendable {
    /// The credential ID in base64url.
    public var id: String
    /// The name.
    public var name: String
    /// When it was registered.
    public var addedAt: Int64
    /// When it was used last; nil: never.
    public var usedAt: Int64?

    /// A passkey.
    public init(id: String, name: String, addedAt: Int64, usedAt: Int64? = nil) {
        self.id = id
        self.name = name
        self.addedAt = addedAt
        self.usedAt = usedAt
    }
}

/// Whether and how the user can add a passkey.
public enum PasskeyAddition: Hashable, Sendable {
    /// The user cannot: there are too many.
    case none
    /// After a login, because the last one was too long ago.
    case afterLogin
    /// At once, with these options: the JSON for `PublicKeyCredential.parseCreationOptionsFromJSON`.
    case now(options: String)
}

/// The password of the account, its passkeys, and the switch that pauses all logins. While they are paused there is the switch
/// alone, because no token of the account works then.
public struct SecurityPage: HTMLPage {
    /// The state of the switch.
    public enum Logins: Hashable, Sendable {
        /// Logins are possible.
        case open
        /// The user has paused them: nothing can be renewed.
        case pausedAtOnce
        /// The user has paused them: access that was given lasts until it expires.
        case pausedOnExpiry
        /// An admin has disabled the user, who cannot change that.
        case blocked
    }

    /// What was typed into a form that is shown again.
    public struct Typed: Hashable, Sendable {
        /// The new name of the passkey; nil: its own.
        public var passkeyName: String?
        /// Whether access that was given shall last until it expires.
        public var pausesOnExpiry: Bool
        /// Whether every session shall end as well.
        public var endsSessions: Bool

        /// What was typed; without arguments nothing.
        public init(passkeyName: String? = nil, pausesOnExpiry: Bool = false, endsSessions: Bool = false) {
            self.passkeyName = passkeyName
            self.pausesOnExpiry = pausesOnExpiry
            self.endsSessions = endsSessions
        }
    }

    /// What the page says at its top.
    public enum Message: Hashable, Sendable {
        /// The token of the form was stale.
        case pressAgain
        /// The new password is stored.
        case passwordSaved
        case wrongCurrentPassword
        /// The new password is not allowed.
        case password(PasswordProblem)
        case tooManyAttempts(seconds: Int)
        /// The server cannot store the new password at the moment.
        case unavailable
        /// Logins are paused.
        case paused
        /// Logins are possible again.
        case resumed
        /// The user has no way to resume logins.
        case pauseNeedsPassword
        /// The passkey has its new name.
        case passkeyRenamed
        case passkeyRemoved
        /// The passkey had been removed before.
        case passkeyGone
        /// The new name of the passkey is not allowed.
        case passkeyNameRefused
        /// The user has authenticated to add a passkey.
        case passkeyAddNow
        case passkeyAdded
        /// The registration is wrong, or too old.
        case passkeyNotAdded
        /// The passkey is one of an account already.
        case passkeyTaken

        var kind: Notice.Kind {
            switch self {
            case .pressAgain, .passkeyGone, .passkeyAddNow: .note
            case .passwordSaved, .paused, .resumed, .passkeyRenamed, .passkeyRemoved, .passkeyAdded: .success
            case .wrongCurrentPassword, .password, .tooManyAttempts, .unavailable, .pauseNeedsPassword,
                .passkeyNameRefused, .passkeyNotAdded, .passkeyTaken:
                .error
            }
        }
    }

    /// Name and navigation.
    public var header: AccountHeader
    /// The name that password managers store the password under.
    public var username: String
    /// Whether the account has a password.
    public var hasPassword: Bool
    /// The smallest length of a password.
    public var lengthMin: Int
    /// The passkeys; nil: the server has none.
    public var passkeys: [AccountPasskey]?
    /// The id of the passkey to name or remove. A single one needs no choice.
    public var chosen: String?
    /// Whether and how the user can add a passkey.
    public var addition: PasskeyAddition
    /// The state of the switch.
    public var logins: Logins
    /// The mailbox of the account, if users change it by a code; nil: they do not.
    public var mailbox: AccountMailbox?
    /// Whether users delete their accounts.
    public var offersDeletion: Bool
    /// What was typed.
    public var typed: Typed
    /// What has happened.
    public var message: Message?

    /// A page for password and switch.
    public init(
        header: AccountHeader, username: String, hasPassword: Bool = true, lengthMin: Int = 8,
        passkeys: [AccountPasskey]? = nil, chosen: String? = nil, addition: PasskeyAddition = .none,
        logins: Logins = .open, mailbox: AccountMailbox? = nil, offersDeletion: Bool = false, typed: Typed = Typed(),
        message: Message? = nil
    ) {
        self.header = header
        self.username = username
        self.hasPassword = hasPassword
        self.lengthMin = lengthMin
        self.passkeys = passkeys
        self.chosen = chosen
        self.addition = addition
        self.logins = logins
        self.mailbox = mailbox
        self.offersDeletion = offersDeletion
        self.typed = typed
        self.message = message
    }

    /// The whole document.
    public func html(in language: PageLanguage) -> HTML {
        let words = language.words
        return header.page(
            .security, language, isError: message?.kind == .error, notice: notice(words),
            modules: passkeys == nil || logins != .open ? [] : [.passkeys],
            content: """
                \(logins == .open ? credentials(words) : nil)<section><h2>\(words.pauseTitle)</h2>
                \(switchForm(words))</section>
                \(logins == .open ? deletion(words) : nil)
                """)
    }

    private func credentials(_ words: any Words) -> HTML {
        """
        <section><h2>\(words.changePassword)</h2>
        \(hasPassword ? passwordForm(words) : "<p>\(words.noPassword)</p>")</section>
        \(passkeys.map { passkeySection($0, words) })<section><h2>\(words.factors)</h2>
        <p>\(words.factorLink)</p>
        <p>\(Controls.link(.accountFactors, words.factorManage))</p></section>\(mailbox?.section(words))
        """
    }

    private func passkeySection(_ passkeys: [AccountPasskey], _ words: any Words) -> HTML {
        let list: HTML =
            passkeys.isEmpty
            ? "<p>\(words.noPasskeys)</p>"
            : "<p>\(words.passkeysBody)</p>\n<ul class=\"list\">\n\(passkeys.map { item($0, words) })</ul>"
        return """
            <section><h2>\(words.passkeys)</h2>
            \(list)\(additionForm(words))</section>

            """
    }

    private func additionForm(_ words: any Words) -> HTML? {
        let options: String?
        switch addition {
        case .none: return nil
        case .afterLogin: options = nil
        case .now(let given): options = given
        }
        return PasskeyForm(
            path: .accountPasskeys, state: header.form, options: options, more: Controls.hidden(.act, "add")
        ).html(words)
    }

    /// Whether the list has the names alone, so that the page of a user with many passkeys stays small.
    private var isLong: Bool { (passkeys?.count ?? 0) > 6 }

    /// Whether the removal of a passkey leaves neither a password nor a passkey.
    private var isLastWayIn: Bool { !hasPassword && passkeys?.count == 1 }

    private func item(_ passkey: AccountPasskey, _ words: any Words) -> HTML {
        let name = DisplayName(passkey.name)
        guard chosen == passkey.id || passkeys?.count == 1 else {
            let (label, time) = passkey.usedAt.map { (words.passkeyUsed, $0) } ?? (words.passkeySince, passkey.addedAt)
            let date: HTML? = isLong ? nil : " · \(label) \(Controls.day(time, words))"
            return "<li><a href=\"\(PagePath("/account/security", ["passkey": passkey.id]))\">\(name)</a>\(date)</li>\n"
        }
        let isNameWrong = message == .passkeyNameRefused
        let used: HTML? = passkey.usedAt.map {
            "<div><dt>\(words.passkeyUsed)</dt><dd>\(Controls.time($0, words))</dd></div>\n"
        }
        // One form: the button says what happens.
        let content: HTML = """
            \(Controls.hidden(.passkey, passkey.id))<p><strong>\(name)</strong></p>
            <dl class="facts">
            <div><dt>\(words.passkeySince)</dt><dd>\(Controls.day(passkey.addedAt, words))</dd></div>
            \(used)</dl>
            <details class="ask"\(attribute: "open", if: typed.passkeyName != nil)><summary>\
            \(words.passkeyRenameTitle)</summary>
            <div class="field"><input name="\(FormField.name)" value="\(typed.passkeyName ?? passkey.name)" required \
            autocomplete="off" aria-label="\(words.passkeyName(name))"\
            \(attribute: "aria-invalid", isNameWrong ? "true" : nil)\
            \(attribute: "aria-describedby", isNameWrong ? Notice.id : nil)\(attribute: "autofocus", if: isNameWrong)></div>
            <button class="secondary small" name="\(FormField.act)" value="rename" \
            aria-label="\(words.passkeyRename(name))">\(words.passkeyRename)</button></details>
            <details class="ask"><summary>\(words.passkeyRemove)\u{A0}…</summary>
            <p>\(words.passkeyRemoveBody)\(isLastWayIn ? " \(words.passkeyRemoveLast)" as HTML : nil)</p>
            <button class="danger" name="\(FormField.act)" value="remove" formnovalidate \
            aria-label="\(words.passkeyRemove(name))">\(words.passkeyRemove)</button></details>
            """
        return "<li>\(Controls.form(.accountPasskeys, header.form, content))</li>\n"
    }

    private func notice(_ words: any Words) -> Notice? {
        message.map { message in
            let text =
                switch message {
                case .pressAgain: words.pressAgain
                case .passwordSaved: words.passwordSaved
                case .wrongCurrentPassword: words.wrongCurrentPassword
                case .password(let problem): problem.sentence(words)
                case .tooManyAttempts(let seconds): words.tooManyAttempts(seconds: seconds)
                case .unavailable: words.serverBusy
                case .paused: words.paused
                case .resumed: words.resumed
                case .pauseNeedsPassword: words.pauseNeedsPassword
                case .passkeyRenamed: words.passkeyRenamed
                case .passkeyRemoved: words.passkeyRemoved
                case .passkeyGone: words.passkeyGone
                case .passkeyNameRefused: words.passkeyNameRefused
                case .passkeyAddNow: words.passkeyAddNow
                case .passkeyAdded: words.passkeyAdded
                case .passkeyNotAdded: words.passkeyNotAdded
                case .passkeyTaken: words.passkeyTaken
                }
            return Notice(kind: message.kind, text: "\(text)")
        }
    }

    private func passwordForm(_ words: any Words) -> HTML {
        var isNewWrong = false
        if case .password = message { isNewWrong = true }
        let current = TextField(
            field: .password, label: words.currentPassword, type: "password", autocomplete: "current-password",
            isWrong: message == .wrongCurrentPassword, shows: words.showPassword)
        let new = TextField(
            field: .newPassword, label: words.newPassword, type: "password", autocomplete: "new-password",
            hint: words.newPasswordHint(min: lengthMin), isWrong: isNewWrong, minLength: lengthMin,
            shows: words.showPassword)
        return Controls.form(
            .accountPassword, header.form,
            """
            <p>\(words.changePasswordBody)</p>
            <input type="text" name="\(FormField.username)" value="\(username)" autocomplete="username" hidden>
            \(current.html)\(new.html)\(Controls.button(words.savePassword))
            """)
    }

    private func switchForm(_ words: any Words) -> HTML {
        switch logins {
        case .open:
            Controls.form(
                .accountLogins, header.form,
                """
                <p>\(words.pauseBody)</p>
                \(Controls.hidden(.pause, "1"))
                <fieldset aria-label="\(words.pauseTitle)">
                \(Controls.radio(.effective, "immediate", words.pauseAtOnce, isOn: !typed.pausesOnExpiry))
                \(Controls.radio(.effective, "on_expiry", words.pauseOnExpiry, isOn: typed.pausesOnExpiry))
                </fieldset>
                \(Controls.checkbox(.endSessions, words.pauseEndSessions, isOn: typed.endsSessions))
                \(Controls.button(words.pause, .danger))
                """)
        case .pausedAtOnce: resumeForm(words.pausedAtOnce, words)
        case .pausedOnExpiry: resumeForm(words.pausedOnExpiry, words)
        case .blocked: "<p>\(words.pausedByAdmin)</p>"
        }
    }

    private func resumeForm(_ sentence: String, _ words: any Words) -> HTML {
        Controls.form(
            .accountLogins, header.form,
            "<p>\(sentence)</p>\n\(Controls.hidden(.pause, "0"))\(Controls.button(words.resume))")
    }
}
