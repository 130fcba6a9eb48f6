internal import Cryptography
internal import HTTP
internal import JSON
internal import OAuth
internal import Pages
internal import Sessions

/// The page of password, passkeys and the user's own switch.
extension Endpoints {
    /// `GET /account/security`: what guards the account.
    func showAccountSecurity(_ call: Call) async throws -> Response {
        try await account(call, .accountSecurity) { stay in
            let message: SecurityPage.Message? =
                switch stay.flash(on: .accountSecurity)?.word {
                case .again: .pressAgain
                case .passkeyAddNow: .passkeyAddNow
                case .passwordSaved: .passwordSaved
                case .paused: .paused
                case .resumed: .resumed
                case .passkeyRenamed: .passkeyRenamed
                case .passkeyRemoved: .passkeyRemoved
                case .passkeyAdded: .passkeyAdded
                case .gone: .passkeyGone
                case .ended, .factorAdded, .factorRemoved, .profileSaved, .mailboxChanged, .deleted, nil: nil
                }
            return try await securityPage(stay, message)
        }
    }

    /// `POST /account/password`: changes the password, which the form gives once more, and ends all other sessions.
    func changeAccountPassword(_ call: Call) async throws -> Response {
        try await account(call, .accountSecurity) { stay in
            let form = try call.form()
            guard stay.sent(form, to: .accountPassword), !stay.visit.isPaused else {
                return try await securityPage(stay, .pressAgain)
            }
            guard let old = form[.password] else { return try await securityPage(stay, .wrongCurrentPassword) }
            let new = form[.newPassword] ?? ""
            do throws(ServiceError) {
                try await services.accounts.changePassword(
                    of: stay.user, in: stay.visit.session, from: old, to: new, by: call.origin)
            } catch {
                let message: SecurityPage.Message
                switch error {
                case .invalidCredentials: message = .wrongCurrentPassword
                case .invalid(member: "new_password", _): message = .password(passwordProblem(new, of: stay.user))
                case .tooManyRequests(let wait): message = .tooManyAttempts(seconds: Self.seconds(of: wait))
                case .store(.unavailable), .overloaded, .passwordQueueFull: message = .unavailable
                default: throw error
                }
                log(error, message.status, call)
                return page(try await securityPage(stay, message), after: error)
            }
            return redirect(stay, to: .accountSecurity, saying: AccountFlash(.passwordSaved))
        }
    }

    /// `POST /account/logins`: sets the user's own switch (seed 003), for a user who has authenticated within the last minutes.
    func switchAccountLogins(_ call: Call) async throws -> Response {
        try await account(call, .accountSecurity, act: .logins) { stay in
            let form = try call.form()
            guard stay.sent(form, to: .accountLogins), form[.pause] != nil else {
                return try await securityPage(stay, .pressAgain, form)
            }
            return try await perform(.logins, form, stay)
        }
    }

    /// Sets the user's own switch as the form of the page says.
    func switchLogins(_ form: FormParameters, _ stay: AccountPageRequest) async throws -> Response {
        let isPausing = form[.pause] == "1"
        let effective = form[.effective].flatMap { User.LoginDisabling.Effective(rawValue: $0) } ?? .immediate
        let endsSessions = isPausing && form[.endSessions] == "1"
        do throws(ServiceError) {
            _ = try await services.accounts.setLogins(
                of: stay.user.id, shownBy: .browser(stay.visit.session.id), disabled: isPausing,
                effective: effective, revokesSessions: endsSessions, from: stay.call.origin)
        } catch {
            guard case .conflict(code: "password_missing", _) = error else { throw error }
            log(error, SecurityPage.Message.pauseNeedsPassword.status, stay.call)
            return try await securityPage(stay, .pauseNeedsPassword, form)
        }
        if endsSessions { return leaveAccount() }
        return redirect(stay, to: .accountSecurity, saying: AccountFlash(isPausing ? .paused : .resumed))
    }

    /// `POST /account/passkeys`: adds, names or removes a passkey, after an authentication within the last minutes.
    func changeAccountPasskeys(_ call: Call) async throws -> Response {
        try await account(call, .accountSecurity, act: .passkeys) { stay in
            let form = try call.form()
            guard stay.sent(form, to: .accountPasskeys), !stay.visit.isPaused, form[.act] != nil else {
                return try await securityPage(stay, .pressAgain, form)
            }
            return try await perform(.passkeys, form, stay)
        }
    }

    /// Adds, names or removes a passkey as the form of the page says.
    func changePasskeys(_ form: FormParameters, _ stay: AccountPageRequest) async throws -> Response {
        let act = form[.act]
        if act == "add" { return try await addAccountPasskey(stay, form[.credential]) }
        let id = form[.passkey].flatMap { Base64URL.decode($0) } ?? []
        do throws(ServiceError) {
            if act == "remove" {
                try await services.passkeys.remove(id, of: stay.visit, from: stay.call.origin)
            } else {
                guard let name = form[.name], Device.isValid(text: name) else {
                    return try await securityPage(stay, .passkeyNameRefused, form)
                }
                _ = try await services.passkeys.rename(id, of: stay.user.id, to: name)
            }
        } catch {
            guard case .notFound = error else { throw error }
            return redirect(stay, to: .accountSecurity, saying: AccountFlash(.gone))
        }
        return redirect(
            stay, to: .accountSecurity, saying: AccountFlash(act == "remove" ? .passkeyRemoved : .passkeyRenamed))
    }

    /// Adds the passkey that the browser has made. A form without one is that of a page without options.
    private func addAccountPasskey(_ stay: AccountPageRequest, _ credential: String?) async throws -> Response {
        guard let credential else { return redirect(stay, to: .accountSecurity, saying: AccountFlash(.passkeyAddNow)) }
        guard let refusal = try await addPasskey(credential, to: stay.visit, stay.call) else {
            return redirect(stay, to: .accountSecurity, saying: AccountFlash(.passkeyAdded))
        }
        let message: SecurityPage.Message =
            if case .conflict(code: "passkey_taken", _) = refusal { .passkeyTaken } else { .passkeyNotAdded }
        log(refusal, message.status, stay.call)
        return try await securityPage(stay, message)
    }

    /// Adds the passkey that a browser has made, as the text of a form. Returns why it is refused; nil: it is added.
    func addPasskey(
        _ credential: String, to account: AccountPageSession, _ call: Call
    ) async throws(ServiceError) -> ServiceError? {
        do throws(ServiceError) {
            let members = (try? StrictJSON.object(Array(credential.utf8))) ?? [:]
            _ = try await services.passkeys.register(members, of: account, from: call.origin)
            return nil
        } catch {
            switch error {
            case .passkeyRefused, .conflict: return error
            default: throw error
            }
        }
    }

    /// The options by which a browser makes a passkey, as JSON; nil if the account can have no other one.
    func creationOptions(
        for account: AccountPageSession, having known: [Passkey]
    ) throws(ServiceError) -> String? {
        do throws(ServiceError) {
            return try services.passkeys.registrationOptions(of: account, having: known).compactText
        } catch {
            guard case .conflict = error else { throw error }
            return nil
        }
    }

    /// Whether and how the user can add a passkey now.
    private func passkeyAddition(
        _ stay: AccountPageRequest, having known: [Passkey]
    ) throws(ServiceError) -> PasskeyAddition {
        if !stay.visit.isRecent { return .afterLogin }
        return try creationOptions(for: stay.visit, having: known).map { .now(options: $0) } ?? .none
    }

    private func securityPage(
        _ stay: AccountPageRequest, _ message: SecurityPage.Message?, _ form: FormParameters? = nil
    ) async throws(ServiceError) -> Response {
        let user = stay.user
        let typed = SecurityPage.Typed(
            passkeyName: form?[.act] == "rename" ? form?[.name] ?? "" : nil,
            pausesOnExpiry: form?[.effective] == User.LoginDisabling.Effective.onExpiry.rawValue,
            endsSessions: form?[.endSessions] == "1")
        let query = stay.call.query
        let overview =
            context.passkeys != nil || mailboxChange == .byCode
            ? try await services.accounts.security(of: user.id) : nil
        var (passkeys, addition): ([AccountPasskey]?, PasskeyAddition) = (nil, .none)
        if context.passkeys != nil {
            let known = overview?.passkeys ?? []
            passkeys = known.sorted { $0.createdAt < $1.createdAt }.map {
                AccountPasskey(
                    id: Base64URL.encode($0.id), name: $0.name, addedAt: $0.createdAt.secondsSinceEpoch,
                    usedAt: $0.lastUsedAt?.secondsSinceEpoch)
            }
            addition = try passkeyAddition(stay, having: known)
        }
        let page = SecurityPage(
            header: stay.header, username: user.username, hasPassword: user.passwordHash != nil,
            lengthMin: context.passwordRules.lengthMin, passkeys: passkeys, chosen: form?[.passkey] ?? query["passkey"],
            addition: addition, logins: user.switchState, mailbox: accountMailbox(user, overview?.details),
            offersDeletion: context.mails != nil, typed: typed, message: message)
        return page.response(message?.status ?? .ok, in: stay.language)
    }

    /// What is wrong with a new password that was refused.
    func passwordProblem(_ password: String, of user: User?) -> PasswordProblem {
        passwordProblem(password, username: user?.username)
    }

    /// What is wrong with a new password of a user that is to have that name.
    func passwordProblem(_ password: String, username: String?) -> PasswordProblem {
        switch context.passwordRules.brokenRule(by: password, username: username) {
        case .tooShort(let min): .tooShort(min: min)
        case .tooCommon: .tooCommon
        case .unusable: password.utf8.contains(0) ? .unusable : .tooLong
        // Without the user the rule about the username is the one that is left.
        case .isName, nil: .isName
        }
    }
}

extension User {
    /// The state of the user's own switch, as the page shows it.
    fileprivate var switchState: SecurityPage.Logins {
        if disabledByAdmin != nil { return .blocked }
        return switch disabledByUser?.effective {
        case .immediate: .pausedAtOnce
        case .onExpiry: .pausedOnExpiry
        case nil: .open
        }
    }
}

extension SecurityPage.Message {
    /// The status of the page with this message.
    fileprivate var status: Status {
        switch self {
        case .wrongCurrentPassword, .password, .passkeyNameRefused, .passkeyNotAdded: .unprocessable
        case .pauseNeedsPassword, .passkeyTaken: .conflict
        case .tooManyAttempts: .tooManyRequests
        case .unavailable: .serviceUnavailable
        case .pressAgain, .passkeyAddNow, .passwordSaved, .paused, .resumed, .passkeyRenamed, .passkeyRemoved,
            .passkeyGone,
            .passkeyAdded:
            .ok
        }
    }
}

extension Route {
    static let showAccountSecurity = Route(
        .get, "/account/security", errorFormat: .page, .open { try await $0.showAccountSecurity($1) },
        Operation(
            "showAccountSecurity", .accountPages, "Password, passkeys and the user's own switch",
            "While the user's own switch is on, the page has the switch alone.",
            parameters: ["passkey.account", "done", "t"],
            answers: [.page, .toLogin]))

    static let changeAccountPassword = Route(
        .post, "/account/password", errorFormat: .page, .open { try await $0.changeAccountPassword($1) },
        Operation(
            "changeAccountPassword", .accountPages, "Change the password",
            """
            Ends all other sessions. The form needs the page's token and the browser's cookies, and comes from \
            this origin; a stale one is shown again.
            """,
            takes: .form,
            answers: [
                .page, .redirect("To `/account/security`."), .page(422, "A password is wrong, or not allowed."),
                .tooManyAttempts,
            ]))

    static let switchAccountLogins = Route(
        .post, "/account/logins", errorFormat: .page, .open { try await $0.switchAccountLogins($1) },
        Operation(
            "switchAccountLogins", .accountPages, "Set the user's own switch",
            """
            `pause=1` switches logins off, `pause=0` on. Needs a login of the last five minutes, for which it \
            asks. The form needs the page's token and the browser's cookies, and comes from this origin; a stale \
            one is shown again.
            """,
            takes: .form,
            answers: [
                .page, .redirect("To `/account/security`, or to the login page."),
                .page(409, "The user would have no way to switch logins on again."),
            ]))

    static let changeAccountPasskeys = Route(
        .post, "/account/passkeys", errorFormat: .page, .open { try await $0.changeAccountPasskeys($1) },
        Operation(
            "changeAccountPasskeys", .accountPages, "Add, name or remove a passkey",
            """
            Needs a login of the last five minutes, for which it asks. The form needs the page's token and the \
            browser's cookies, and comes from this origin; a stale one is shown again.
            """,
            takes: .form,
            answers: [
                .page, .redirect("To `/account/security`, or to the login page."),
                .page(409, "The passkey is one of an account already."), .page(422, "The name is not allowed."),
            ]))
}
