internal import HTTP
internal import OAuth
internal import Pages
internal import Sessions

/// The pages that ask for the code of a mail, in the browser that had it sent.
extension Endpoints {
    /// `GET /sign-up/code?r=`, `GET /forgot/code?r=`, `GET /login/email/code?r=`: asks for the code.
    func showCode(_ call: Call, _ purpose: MailboxPurpose) async throws -> Response {
        try await sentProofPage(call, purpose, call.query["r"]) { codePage($0) }
    }

    /// `POST` to the same: proves the mailbox by the code and goes on, or has the mail sent once more.
    func takeCode(_ call: Call, _ purpose: MailboxPurpose) async throws -> Response {
        let form = try call.form()
        return try await sentProofPage(call, purpose, form[.request]) { sent in
            let remembers = form[.remember] == "1"
            guard sent.page.sent(form, to: purpose.codePath) else {
                return codePage(sent, remembers: remembers, sent.page.stale(form))
            }
            do throws(ServiceError) {
                if form[.act] == CodePage.resending {
                    _ = try await rateLimiter.verification(in: call) { () async throws(ServiceError) in
                        try await services.verifications.resend(sent.handle, from: call.origin)
                    }
                    return codePage(sent, remembers: remembers, .sentAgain)
                }
            } catch { return try refusal(error, of: sent, remembers: remembers) }
            let proof: VerificationProof
            do throws(ServiceError) {
                proof = try await services.verifications.prove(
                    sent.handle, code: form[.code] ?? "", from: call.origin)
            } catch { return try refusal(error, of: sent, remembers: remembers) }
            return try await goOn(sent, by: proof, remembers: sent.page.offersRemember ? remembers : nil)
        }
    }

    /// What the browser sees after a proof: the page for a password, or the client.
    ///
    /// - Parameter remembers: whether the user wants to stay logged in; nil: the page did not ask.
    func goOn(_ sent: SentProofPage, by proof: VerificationProof, remembers: Bool?) async throws -> Response {
        let page = sent.page
        switch page.purpose {
        case .signUp: return redirect(to: PagePath.signUpFinish.carrying(sent.sealed))
        case .reset: return redirect(to: PagePath.reset.carrying(sent.sealed))
        case .email: return redirect(to: .accountEmail)
        case .signIn: break
        }
        guard var login = page.login else { throw RequestProblem.invalid("r", "is not a request of this server") }
        login.browser = page.flow.browser
        guard let sealed = context.requests.seal(login) else {
            throw RequestProblem.invalid("r", "is not a request of this server")
        }
        var visit = PageLoginRequest(
            carried: login, sealed: sealed, transport: page.transport,
            browser: browser(page.call, page.transport, isKept: remembers, form: sent.sealed))
        // A second factor goes on with the proof, which stays good until the login is complete.
        visit.loginToken = sent.sealed
        if let hinted = login.request.hintedUser, hinted != proof.verification.userID?.description {
            return answer(.loginRequired, Self.otherUserText, to: login.request)
        }
        do throws(ServiceError) {
            let approval = try await services.pageLogin.approve(
                login, as: .email(proof), in: visit.browser, from: page.call.origin)
            metrics.countLogin()
            return answer(approval, to: login.request, page.transport)
        } catch {
            if case .conflict(code: "account_missing", _) = error {
                return redirect(to: PagePath.signUpFinish.carrying(sent.sealed))
            }
            metrics.countLogin(failing: error)
            return try await refusal(error, of: visit, page.call)
        }
    }

    /// What the browser sees after a code that was refused. A verification that is over begins anew.
    func refusal(_ error: ServiceError, of sent: SentProofPage, remembers: Bool) throws -> Response {
        guard let message = VerificationMessage(error) else { throw error }
        log(error, message.status, sent.page.call)
        let response =
            message == .codeOver
            ? mailboxPage(sent.page, email: sent.carried.email, message)
            : codePage(sent, remembers: remembers, message)
        return page(response, after: error)
    }

    private func codePage(
        _ sent: SentProofPage, remembers: Bool = false, _ message: VerificationMessage? = nil
    ) -> Response {
        let page = sent.page
        var stale: StaleForm?
        if case .stale(let found)? = message { stale = found }
        let isLogin = page.purpose == .signIn
        return CodePage(
            app: page.app, form: page.form(stale), purpose: page.purpose, email: sent.carried.email, again: page.again,
            remember: isLogin && page.offersRemember ? remembers : nil, message: message
        ).response(
            message?.status ?? .ok, in: page.language,
            submittingTo: isLogin ? page.login.map { formTargets($0.request, page.client) } ?? [] : [])
    }
}

extension Route {
    static let showSignUpCode = code(.signUp, "showSignUpCode", "Ask for the code of a new account")
    static let takeSignUpCode = codeForm(.signUp, "takeSignUpCode", "Take the code of a new account")
    static let showResetCode = code(.reset, "showResetCode", "Ask for the code of a forgotten password")
    static let takeResetCode = codeForm(.reset, "takeResetCode", "Take the code of a forgotten password")
    static let showLoginCode = code(.signIn, "showLoginCode", "Ask for the code of a login by e-mail")
    static let takeLoginCode = codeForm(.signIn, "takeLoginCode", "Take the code of a login by e-mail")

    private static func code(_ purpose: MailboxPurpose, _ id: String, _ summary: String) -> Route {
        Route(
            .get, purpose.codePath.text, errorFormat: .page, .open { try await $0.showCode($1, purpose) },
            Operation(
                id, .loginPage, summary, "In the browser that had the mail sent. Any other one begins anew.",
                parameters: ["r.proof"],
                answers: [
                    .page, .redirect("To the page that asks for a mailbox."), .unknownRequest,
                    .page(404, "There is no such page."),
                ]))
    }

    private static func codeForm(_ purpose: MailboxPurpose, _ id: String, _ summary: String) -> Route {
        Route(
            .post, purpose.codePath.text, errorFormat: .page, .open { try await $0.takeCode($1, purpose) },
            Operation(
                id, .loginPage, summary,
                """
                With `act=resend` the same mail is sent once more, a minute after the last one at the earliest. Five \
                wrong codes end it. The form needs the page's token and the browser's cookie, and comes from this origin.
                """,
                takes: .form,
                answers: [
                    .page, .redirect("To the next page, or to the client with the answer."), .unknownRequest,
                    .page(404, "There is no such page."), .page(422, "The code is wrong, or over."), .tooManyAttempts,
                ]))
    }
}
