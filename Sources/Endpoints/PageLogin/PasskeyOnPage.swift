internal import HTTP
internal import JSON
internal import OAuth
internal import Pages
internal import Sessions

/// The login by a passkey on the login page.
extension Endpoints {
    /// `POST /login/passkey`: logs in the user of a passkey, and answers the client with a code. The challenge is that of the
    /// page in this browser. Refused passkeys count against the caller's address.
    func logInByPasskeyOnPage(_ call: Call) async throws -> Response {
        let (visit, flow, form): (PageLoginRequest, FlowSecret, FormParameters)
        switch try await submission(call, to: .loginPasskey, .passkey) {
        case .page(let response): return response
        case .form(let sentVisit, let sentFlow, let sentForm): (visit, flow, form) = (sentVisit, sentFlow, sentForm)
        }
        guard let credential = try? StrictJSON.object(Array((form["credential"] ?? "").utf8)) else {
            return try await loginPage(visit, username: nil, .passkeyFailed, call)
        }
        do throws(ServiceError) {
            let response = try await rateLimiter.passkey(in: call) { () async throws(ServiceError) in
                try await logIn(visit, flow, by: credential, call)
            }
            metrics.countLogin()
            return response
        } catch {
            metrics.countLogin(failing: error)
            return try await refusal(error, of: visit, call)
        }
    }

    private func logIn(
        _ visit: PageLoginRequest, _ flow: FlowSecret, by credential: [String: JSONValue], _ call: Call
    ) async throws(ServiceError) -> Response {
        let request = visit.carried.request
        let proof = try await services.passkeys.verify(credential, on: visit.carried, from: call.origin)
        if let hinted = request.hintedUser, hinted != proof.userID.description {
            return answer(.loginRequired, Self.otherUserText, to: request)
        }
        let name = "passkey\0\(proof.userID)"
        try rateLimiter.admitLogin(username: name, deviceID: flow.deviceID)
        return try await rateLimiter.session(of: name) { () async throws(ServiceError) in
            if request.isOfAccountPages {
                return try await openAccountPages(as: .passkey(proof), visit, flow, call)
            }
            let approval = try await services.pageLogin.approve(
                visit.carried, as: .passkey(proof), in: visit.browser, from: call.origin)
            return answer(approval, to: request, visit.transport)
        }
    }

    /// The options of the passkey button for a page that is bound to its browser; nil if the page has no button.
    func passkeyOptions(_ login: PageRegistration, _ carried: CarriedRequest) throws -> String? {
        guard login.offers(.passkey, for: carried.request), context.passkeys != nil else { return nil }
        return try services.passkeys.loginOptions(on: carried).compactText
    }

    static let otherUserText = "Another user has logged in."
}

extension Route {
    static let logInByPasskeyOnPage = Route(
        .post, "/login/passkey", errorFormat: .page, .open { try await $0.logInByPasskeyOnPage($1) },
        Operation(
            "logInByPasskeyOnPage", .loginPage, "Take a passkey from the page",
            """
            For the page alone, where `login_methods` of the client has `passkey` or is absent: the form needs \
            the page's token and the browser's cookie, and comes from this origin. The challenge is that of this \
            page in this browser. With `browser_session` of the client, sets the cookie \
            `__Host-sojourn-session`.
            """,
            takes: .form,
            answers: [
                .page, .redirect("To the client, with the answer."), .unknownRequest,
                .page(403, "The form comes from another site, or logins are disabled."),
                .page(422, "The passkey was not accepted."), .tooManyAttempts,
            ]))
}
