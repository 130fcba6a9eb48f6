internal import Cryptography
internal import HTTP
internal import JSON
internal import OAuth
internal import Pages
internal import Sessions

/// The last step of a sign-up: the user chooses a password or a passkey, and the account is made with the session of the browser.
extension Endpoints {
    /// `GET /sign-up/finish?r=`: asks for a password or a passkey.
    func showSignUpFinish(_ call: Call) async throws -> Response {
        try await finishPage(call, call.query["r"]) { sent in
            do throws(ServiceError) {
                return try await signUpPage(sent, nil)
            } catch { return try refusal(error, of: sent, remembers: false) }
        }
    }

    /// `POST` to the same: makes the account, and answers the client.
    func finishSignUp(_ call: Call) async throws -> Response {
        let form = try call.form()
        return try await finishPage(call, form[.request]) { sent in
            guard sent.page.sent(form, to: .signUpFinish) else {
                return try await signUpPage(sent, form, .stale(call.staleness(of: form, sent.page.transport)))
            }
            do throws(ServiceError) { return try await finishSignUp(sent, form) } catch {
                return try await refusal(error, of: sent, form)
            }
        }
    }

    /// A login by e-mail for which there was no account goes on here as well.
    private func finishPage(
        _ call: Call, _ sealed: String?, _ body: (SentProofPage) async throws -> Response
    ) async throws -> Response {
        let carried = sealed.flatMap(context.requests.openVerification)
        let isLogin = carried?.purpose == MailboxPurpose.signIn.rawValue
        return try await sentProofPage(call, isLogin ? .signIn : .signUp, sealed) { sent in
            guard takesProofs(for: .signUp, of: sent.page.client, sent.page.login?.request) else {
                throw ServiceError.notFound("page")
            }
            return try await body(sent)
        }
    }

    private func finishSignUp(_ sent: SentProofPage, _ form: FormParameters) async throws(ServiceError) -> Response {
        let page = sent.page
        let login = page.login ?? accountLogin()
        let visit = PageLoginRequest(
            carried: login, sealed: sent.sealed, transport: page.transport,
            browser: browser(
                page.call, page.transport, isKept: page.offersRemember ? form[.remember] == "1" : nil,
                form: sent.sealed))
        // The account is none of the user that the client has named.
        if login.request.hintedUser != nil { return answer(.loginRequired, Self.otherUserText, to: login.request) }
        var request = SignUpRequest(sent.handle)
        request.clientID = page.client?.id
        if context.accountRules.usernames == .chosen { request.username = form[.username] ?? "" }
        if let credential = form[.credential] {
            request.passkey = (try? StrictJSON.object(Array(credential.utf8))) ?? [:]
        } else {
            request.password = form[.newPassword] ?? ""
        }
        let checked = request
        let response = try await rateLimiter.signUp(in: page.call) { () async throws(ServiceError) in
            let signUp = try await services.signUp.prepare(checked, from: page.call.origin)
            if login.request.isOfAccountPages {
                return try await openAccountPages(as: .signUp(signUp), visit, page.flow, page.call)
            }
            let approval = try await services.pageLogin.approve(
                login, as: .signUp(signUp), in: visit.browser, from: page.call.origin)
            return answer(approval, to: login.request, page.transport)
        }
        metrics.countLogin()
        return response
    }

    /// The login of the account pages, for an account that is made without a client.
    private func accountLogin() -> CarriedRequest {
        let id = Hex.encode(context.random.bytes(16))
        return CarriedRequest(
            AuthorizationRequest(ofAccountPage: url(.account), id: id), at: context.clock.now)
    }

    private func refusal(
        _ error: ServiceError, of sent: SentProofPage, _ form: FormParameters
    ) async throws -> Response {
        let page = sent.page
        let message: SignUpPage.Message
        switch error {
        case .invalid(member: "password", _):
            let username = form[.username] ?? sent.carried.email
            message = .password(passwordProblem(form[.newPassword] ?? "", username: username))
        case .invalid(member: "username", _): message = .usernameRefused
        case .conflict(code: "username_taken", _): message = .usernameTaken
        case .passkeyRefused, .conflict(code: "passkey_taken", _): message = .passkeyNotAdded
        case .tooManyRequests(let wait): message = .tooManyAttempts(seconds: Self.seconds(of: wait))
        case .store(.unavailable), .overloaded, .passwordQueueFull: message = .unavailable
        case .conflict(code: "account_exists", _):
            log(error, .conflict, page.call)
            return AccountExistsPage(
                app: page.app, email: sent.carried.email, signIn: page.signIn,
                forgot: PagePath.forgot.carrying(page.sealedLogin)
            ).response(.conflict, in: page.language)
        case .requestSpent, .unauthorizedClient, .grantMissing:
            guard let request = page.login?.request, !request.isOfAccountPages else { throw error }
            return answer(to: error, of: request)
        default: return try refusal(error, of: sent, remembers: false)
        }
        log(error, message.status, page.call)
        return self.page(try await signUpPage(sent, form, message), after: error)
    }

    private func signUpPage(
        _ sent: SentProofPage, _ form: FormParameters?, _ message: SignUpPage.Message? = nil
    ) async throws(ServiceError) -> Response {
        let page = sent.page
        func offers(_ method: Client.LoginMethod) -> Bool { self.offers(method, page.client, page.login?.request) }
        var passkey: String?
        if context.passkeys != nil, offers(.passkey) {
            passkey = try await services.signUp.passkeyOptions(sent.handle).compactText
        } else {
            _ = try await services.verifications.proof(sent.handle)
        }
        var stale: StaleForm?
        if case .stale(let found)? = message { stale = found }
        return SignUpPage(
            app: page.app, form: page.form(stale), email: sent.carried.email,
            username: context.accountRules.usernames == .chosen ? form?[.username] ?? "" : nil,
            passwordLengthMin: offers(.password) ? context.passwordRules.lengthMin : nil, passkey: passkey,
            remember: page.offersRemember ? form?[.remember] == "1" : nil, message: message
        ).response(
            message?.status ?? .ok, in: page.language,
            submittingTo: page.login.map { formTargets($0.request, page.client) } ?? [])
    }
}

extension SignUpPage.Message {
    /// The status of the page with this message.
    fileprivate var status: Status {
        switch self {
        case .stale(let stale): stale.status
        case .password, .usernameRefused, .passkeyNotAdded: .unprocessable
        case .usernameTaken: .conflict
        case .tooManyAttempts: .tooManyRequests
        case .unavailable: .serviceUnavailable
        }
    }
}

extension Route {
    static let showSignUpFinish = Route(
        .get, "/sign-up/finish", errorFormat: .page, .open { try await $0.showSignUpFinish($1) },
        Operation(
            "showSignUpFinish", .loginPage, "Ask for the password or the passkey of a new account",
            "After the proof of the mailbox, in the browser that had the mail sent.",
            parameters: ["r.proof"],
            answers: [
                .page, .redirect("To the page that asks for a mailbox."), .unknownRequest,
                .page(404, "There is no such page."), .page(422, "The proof is over."),
            ]))

    static let finishSignUp = Route(
        .post, "/sign-up/finish", errorFormat: .page, .open { try await $0.finishSignUp($1) },
        Operation(
            "finishSignUp", .loginPage, "Make an account",
            """
            Makes the account and the session in one transaction, and goes on to the client. The form needs the page's \
            token and the browser's cookie, and comes from this origin.
            """,
            takes: .form,
            answers: [
                .page, .redirect("To the client, with the answer, or to the account pages."), .unknownRequest,
                .page(404, "There is no such page."), .page(409, "The mailbox or the username has an account."),
                .page(422, "The password, the username or the passkey is refused, or the proof is over."),
                .tooManyAttempts,
            ]))
}
