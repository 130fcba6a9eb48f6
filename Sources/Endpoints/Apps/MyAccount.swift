internal import HTTP
internal import OAuth
internal import Sessions

extension Endpoints {
    /// `POST /v1/me/account`: names the anonymous user of the session, by `{username, password}` or by an ID token of an
    /// identity provider. User id and session remain. The state makes a retry converge, so the `Idempotency-Key` is only
    /// checked for its form.
    func nameAccount(_ call: Call, _ session: AuthenticatedSession) async throws -> Response {
        let members = try Members(call, known: Members.idTokenNames + ["username", "password"])
        _ = try call.idempotencyKey()
        if let token = try members.identityToken() {
            _ = try Members(call, known: Members.idTokenNames)
            return try await nameAccount(session, by: token, call)
        }
        let (username, password) = (
            try members.requiredString("username"), try members.requiredString("password")
        )
        let user = try await rateLimiter.naming(in: call) { () async throws(ServiceError) in
            try await services.anonymousUsers.name(session, username: username, password: password, from: call.origin)
        }
        return Response(.ok, "application/json", TokenResponse.User(user, in: session.scope).json)
    }

    private func nameAccount(
        _ session: AuthenticatedSession, by token: IdentityToken, _ call: Call
    ) async throws -> Response {
        guard let identityVerifier else { throw ServiceError.identityRefused(.unknownProvider) }
        let user = try await rateLimiter.naming(in: call) { () async throws(ServiceError) in
            let identity = try await services.federation.identity(of: token, by: identityVerifier, from: call.origin)
            return try await services.anonymousUsers.name(session, by: identity, from: call.origin)
        }
        return Response(.ok, "application/json", TokenResponse.User(user, in: session.scope).json)
    }
}

extension Route {
    static let nameAccount = Route(
        .post, "/v1/me/account", onProbation: false, .user { try await $0.nameAccount($1, $2) },
        Operation(
            "name_my_account", .me, "Name my account",
            """
            Gives an anonymous user a username and a password, or links the user to an identity. User id and \
            session remain. A request that was fulfilled before gets the same answer again. The next refresh \
            gives an access token without the claim `anonymous`.
            """,
            takes: .json("AccountName"), parameters: ["Idempotency-Key"],
            answers: [.json("User", "The user, with the name.")],
            errors: [.accountUnauthorized, .notNamed, .preconditionFailed, .tooManyRequests]))
}
