internal import HTTP
internal import OAuth
internal import Pages
internal import Sessions

/// The pages that ask for a mailbox. They answer alike whether an account has it or not.
extension Endpoints {
    /// `GET /sign-up?r=`, `GET /forgot?r=`, `GET /login/email?r=`: asks for a mailbox.
    func showMailbox(_ call: Call, _ purpose: MailboxPurpose) async throws -> Response {
        try await proofPage(call, purpose, call.query["r"]) { page in
            let hint = page.login?.request.loginHint ?? ""
            return mailboxPage(page, email: hint.contains("@") ? hint : "")
        }
    }

    /// `POST` to the same: has a code sent to the mailbox, and leads to the page that asks for it.
    func sendCode(_ call: Call, _ purpose: MailboxPurpose) async throws -> Response {
        let form = try call.form()
        return try await proofPage(call, purpose, form[.request]) { page in
            let email = form[.email] ?? ""
            guard page.sent(form, to: purpose.askPath) else {
                return mailboxPage(page, email: email, page.stale(form))
            }
            do throws(ServiceError) {
                let sealed = try await ask(page, email)
                var response = redirect(to: purpose.codePath.carrying(sealed))
                PageCookie.verification.set(
                    sealed, lifetime: PageCookie.verificationLifetime, page.transport, on: &response)
                return response
            } catch {
                guard let message = VerificationMessage(error) else { throw error }
                log(error, message.status, call)
                return self.page(mailboxPage(page, email: email, message), after: error)
            }
        }
    }

    /// Has a code sent, and returns what the browser carries on.
    private func ask(_ page: ProofPage, _ email: String) async throws(ServiceError) -> String {
        guard let purpose = Verification.Purpose(rawValue: page.purpose.rawValue) else { throw .notFound("page") }
        var request = VerificationRequest(purpose, email: email, language: page.language.tag)
        request.clientID = page.client?.id
        request.asker = VerificationAsker(browser: page.flow.text)
        request.knownSession = browserHandle(page.call, page.transport)?.id
        request.facts = mailFacts(page.call, page.language)
        let asked = request
        let ticket = try await rateLimiter.verification(in: page.call) { () async throws(ServiceError) in
            try await services.verifications.ask(asked, from: page.call.origin)
        }
        let carried = CarriedVerification(
            ticket.handle.id, purpose, email: email, browser: page.flow.browser, login: page.login)
        guard let sealed = context.requests.seal(carried) else {
            throw .invalid(member: "email", detail: "is too long")
        }
        return sealed
    }

    /// The page that asks for a mailbox.
    func mailboxPage(_ page: ProofPage, email: String, _ message: VerificationMessage? = nil) -> Response {
        var stale: StaleForm?
        if case .stale(let found)? = message { stale = found }
        // The form goes on with the login alone: a verification that is over is asked for anew.
        let form = FormState(request: page.sealedLogin) { page.flow.formToken($0.text, page.sealedLogin ?? "") }
        return MailboxPage(
            app: page.app, form: form.again(stale), purpose: page.purpose, email: email, signIn: page.signIn,
            message: message
        ).response(message?.status ?? .ok, in: page.language)
    }
}

extension FormState {
    /// The form, shown once more because it was stale.
    fileprivate func again(_ stale: StaleForm?) -> FormState {
        var form = self
        form.isShownAgain = stale != nil
        return form
    }
}

extension Route {
    static let showSignUp = mailbox(.signUp, "showSignUp", "Ask for the mailbox of a new account")
    static let beginSignUp = mailboxForm(.signUp, "beginSignUp", "Send the code of a new account")
    static let showForgot = mailbox(.reset, "showForgot", "Ask for the mailbox of a forgotten password")
    static let beginReset = mailboxForm(.reset, "beginReset", "Send the code of a forgotten password")
    static let showEmailLogin = mailbox(.signIn, "showEmailLogin", "Ask for the mailbox of a login by e-mail")
    static let beginEmailLogin = mailboxForm(.signIn, "beginEmailLogin", "Send the code of a login by e-mail")

    private static func mailbox(_ purpose: MailboxPurpose, _ id: String, _ summary: String) -> Route {
        Route(
            .get, purpose.askPath.text, errorFormat: .page, .open { try await $0.showMailbox($1, purpose) },
            Operation(
                id, .loginPage, summary,
                "Only where the server sends mails, and the client of the login that waits has the page.",
                parameters: ["r.optional"], answers: [.page, .unknownRequest, .page(404, "There is no such page.")]))
    }

    private static func mailboxForm(_ purpose: MailboxPurpose, _ id: String, _ summary: String) -> Route {
        Route(
            .post, purpose.askPath.text, errorFormat: .page, .open { try await $0.sendCode($1, purpose) },
            Operation(
                id, .loginPage, summary,
                """
                Answers alike for every mailbox to which mails can be sent, whether an account has it or not. The form \
                needs the page's token and the browser's cookie, and comes from this origin.
                """,
                takes: .form,
                answers: [
                    .page, .redirect("To the page that asks for the code."), .unknownRequest,
                    .page(404, "There is no such page."), .page(422, "No mail is sent to this address."),
                    .tooManyAttempts,
                ]))
    }
}
