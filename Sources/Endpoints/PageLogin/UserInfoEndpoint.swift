internal import HTTP
internal import OAuth
internal import Sessions

extension Endpoints {
    /// `GET /oauth/userinfo` and `POST /oauth/userinfo` (OpenID Connect Core section 5.3): the claims of the user that the scope
    /// of the access token discloses. A POST can bring the token in its form (RFC 6750 section 2.2).
    func userInfo(_ call: Call) async throws -> Response {
        let session: AuthenticatedSession
        if call.request.method == .post, try call.onlyField("Authorization") == nil, try call.isForm(),
            let token = try call.form()["access_token"]
        {
            session = try await services.accessTokens.authenticate(
                token, as: .bearer, scope: "openid", from: call.origin)
            try call.page?.admit(in: session.record)
        } else {
            session = try await authenticatedSession(call, scope: "openid")
        }
        let claims = ScopedClaims(of: session.user, in: session.scope, to: session.record.client)
        return Response(.ok, "application/json", claims.userInfo)
    }
}

extension Route {
    static let userInfo = Route(
        .get, Endpoints.userInfoPath, cors: .client, .open { try await $0.userInfo($1) },
        Operation(
            "userInfo", .loginPage, "The claims of the user",
            """
            OpenID Connect Core section 5.3, for an access token with the scope `openid`: `email`, `profile` and \
            `phone` disclose more.
            """,
            security: [.bearer, .dpop], answers: [.inline(200, "UserInfo"), .inline(403, "OpenIDScopeMissing")]))

    static let userInfoByForm = Route(
        .post, Endpoints.userInfoPath, cors: .client, .open { try await $0.userInfo($1) },
        Operation(
            "userInfoByForm", .loginPage, "The claims of the user, by a form",
            "As the GET; the token may stand in the form (RFC 6750 section 2.2).",
            takes: .optionalForm, security: [.bearer, .dpop],
            answers: [.inline(200, "UserInfo"), .inline(403, "OpenIDScopeMissing")]))
}
