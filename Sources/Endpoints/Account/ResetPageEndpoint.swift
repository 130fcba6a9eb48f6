internal import HTTP
internal import OAuth
internal import Pages
internal import Sessions

/// The page for a new password by a reset token. The link is `/reset#TOKEN`: no browser sends a fragment, so that no log and no
/// `Referer` has the token.
extension Endpoints {
    /// `GET /reset`: asks for a new password, or says that it is stored.
    func showReset(_ call: Call) async throws -> Response {
        guard let transport = call.transport else { throw RequestProblem.needsTLS }
        let query = call.query
        let isDone = call.flowSecrets(transport).contains { $0.isToken(query["t"], of: Self.resetDonePath, "") }
        if isDone {
            // A login that has waited goes on.
            let login = query["r"].flatMap { context.requests.open($0) == nil ? nil : $0 }
            let next = login.map(PagePath.loginPage) ?? .account
            return PasswordSavedPage(next: next).response(.ok, in: call.language())
        }
        return resetPage(call, transport, proof: resetProof(call, transport, query["r"]))
    }

    /// `POST /reset`: sets the password, and ends all sessions of the user.
    func resetOnPage(_ call: Call) async throws -> Response {
        guard let transport = call.transport else { throw RequestProblem.needsTLS }
        try checkOrigin(call)
        let form = try call.form()
        let token = Self.pasted(form[.token])
        let proof = resetProof(call, transport, form[.request])
        let (path, subject) = (PagePath.reset.text, proof?.sealed ?? "")
        guard let flow = call.flowSecrets(transport).first(where: { $0.isToken(form[.csrf], of: path, subject) })
        else {
            return resetPage(
                call, transport, token: token, proof: proof, .stale(call.staleness(of: form, transport)))
        }
        let new = form[.newPassword] ?? ""
        do throws(ServiceError) {
            try await rateLimiter.reset(from: call.caller) { () async throws(ServiceError) in
                let reset =
                    if let proof { try await services.accounts.passwordReset(by: proof.handle) } else {
                        try await services.accounts.passwordReset(by: token ?? "")
                    }
                try await rateLimiter.reset(of: reset.userID) { () async throws(ServiceError) in
                    try await services.accounts.resetPassword(reset, to: new, from: call.origin)
                }
            }
        } catch {
            let message: ResetPage.Message
            switch error {
            case .invalid(member: "reset_token", _), .verificationOver: message = .tokenRefused
            case .invalid(member: "new_password", _): message = .password(passwordProblem(new, of: nil))
            case .tooManyRequests(let wait): message = .tooManyAttempts(seconds: Self.seconds(of: wait))
            case .store(.unavailable), .overloaded, .passwordQueueFull: message = .unavailable
            default: throw error
            }
            log(error, message.status, call)
            let shown = message == .tokenRefused ? nil : token
            let page = resetPage(
                call, transport, token: shown, proof: message == .tokenRefused ? nil : proof, message)
            return self.page(page, after: error)
        }
        let login = proof?.carried.login.flatMap(context.requests.seal).map { "&r=\($0)" } ?? ""
        return Self.redirect(to: "\(url(.reset))?t=\(flow.formToken(Self.resetDonePath, ""))\(login)")
    }

    /// The proof of a mailbox by a code, which this browser carries.
    private struct ResetProof {
        let sealed: String
        let carried: CarriedVerification
        let handle: VerificationHandle
    }

    private func resetProof(_ call: Call, _ transport: PageTransport, _ sealed: String?) -> ResetProof? {
        guard context.mails != nil, let sealed, let carried = context.requests.openVerification(sealed),
            let id = Identifier<Verification>(carried.id),
            let flow = call.flowSecrets(transport).first(where: { $0.browser == carried.browser })
        else { return nil }
        let handle = VerificationHandle(id: id, asker: VerificationAsker(browser: flow.text))
        return ResetProof(sealed: sealed, carried: carried, handle: handle)
    }

    /// What the token in the URL of the page after a reset is made for.
    private static let resetDonePath = "/reset?done"

    /// The token of a link that was pasted whole, or in part; nil if there is none.
    static func pasted(_ text: String?) -> String? {
        let end = text?.split(separator: "#", omittingEmptySubsequences: false).last ?? ""
        let token = end.filter { !$0.isWhitespace }
        return token.isEmpty ? nil : token
    }

    private func resetPage(
        _ call: Call, _ transport: PageTransport, token: String? = nil, proof: ResetProof? = nil,
        _ message: ResetPage.Message? = nil
    ) -> Response {
        let browserFlow = flow(call, transport)
        let flow = browserFlow.secret
        var state = FormState(request: proof?.sealed) { flow.formToken($0.text, proof?.sealed ?? "") }
        if case .stale = message { state.isShownAgain = true }
        let page = ResetPage(
            form: state, token: token, isProven: proof != nil, forgot: context.mails == nil ? nil : .forgot,
            lengthMin: context.passwordRules.lengthMin, message: message)
        var response = page.response(message?.status ?? .ok, in: call.language())
        browserFlow.set(transport, on: &response)
        return response
    }
}

extension ResetPage.Message {
    /// The status of the page with this message.
    fileprivate var status: Status {
        switch self {
        case .stale(let stale): stale.status
        case .tokenRefused, .password: .unprocessable
        case .tooManyAttempts: .tooManyRequests
        case .unavailable: .serviceUnavailable
        }
    }
}

extension Route {
    static let showReset = Route(
        .get, "/reset", errorFormat: .page, .open { try await $0.showReset($1) },
        Operation(
            "showReset", .accountPages, "The page for a new password",
            """
            The link is `/reset#TOKEN`, of a mail or with a token that an admin has made. A fragment is sent to no \
            server. After the code of a mail, the browser has no link.
            """,
            parameters: ["t.reset", "r.optional"], answers: [.page]))

    static let resetOnPage = Route(
        .post, "/reset", errorFormat: .page, .open { try await $0.resetOnPage($1) },
        Operation(
            "resetOnPage", .accountPages, "Set a new password by a token",
            """
            Ends all sessions of the user. The form needs the page's token and the browser's cookies, and comes \
            from this origin; a stale one is shown again.
            """,
            takes: .form,
            answers: [
                .page, .redirect("To `/reset`, which says that it is done."),
                .page(422, "The token or the password is refused."), .tooManyAttempts,
            ]))
}
