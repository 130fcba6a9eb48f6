internal import HTTP
internal import OAuth
internal import Sessions

extension Endpoints {
    /// `POST /oauth/introspect` (RFC 7662), for authenticated clients only, because an open endpoint would allow guessing
    /// tokens. The answer is a signed JWT if `Accept` names its type (RFC 9701).
    func introspect(_ call: Call) async throws -> Response {
        let form = try call.form()
        guard
            case .authenticated(let client) = try await clientIdentity(
                call, ClientParameters(form))
        else { throw ServiceError.invalidClient }
        guard let token = form["token"] else { throw RequestProblem.invalid("token", "is missing") }
        var call = call
        call.actor = "client:\(client.id)"
        var introspection = try await services.accessTokens.introspect(token, from: call.origin)
        // RFC 7662 section 4: active means usable where the token was presented. A refresh token is usable at no resource, so
        // that it is active only for its own client, and for a request that hints at a refresh token.
        if case .refreshToken(let record, _) = introspection, record.session.clientID != client.id,
            form["token_type_hint"] != "refresh_token"
        {
            introspection = .inactive
        }
        // RFC 9701 section 5: a token for another API is inactive. The request names the API, because the resources of a client
        // are the APIs that it calls.
        if let audience = form["audience"], !introspection.isFor(audience) { introspection = .inactive }
        var response = try Response.json(answer(to: introspection))
        if case .accessToken(let token) = introspection, let claims = token.user.claims {
            // The user's claims stand in the answer as in the token, because RFC 7662 section 2.2 allows additional members.
            response.body = response.body.dropLast() + Array(",\(claims.members)}".utf8)
        }
        let signedType = "application/\(TokenSigner.introspectionType)"
        guard call.accepts(signedType, ratherThan: "application/json") else { return response }
        let signed = try await services.signer.sign(introspection: response.body, for: client)
        return Response(.ok, signedType, Array(signed.utf8))
    }

    private func answer(to introspection: Introspection) -> IntrospectionResponse {
        guard introspection != .inactive else { return IntrospectionResponse(active: false) }
        var answer = IntrospectionResponse(active: true)
        answer.iss = context.issuer
        switch introspection {
        case .inactive: break
        case .accessToken(let token):
            answer.describe(token.session, of: token.user, scope: token.scope)
            answer.bind(to: token.session.keyThumbprint)
            answer.aud = IntrospectionResponse.Audience(token.audience)
            answer.iat = token.issuedAt.secondsSinceEpoch
            answer.exp = token.expiresAt.secondsSinceEpoch
        case .clientToken(let token):
            answer.bind(to: token.keyThumbprint)
            answer.aud = IntrospectionResponse.Audience(token.audience)
            answer.clientID = token.clientID
            answer.sub = token.clientID
            answer.scope = token.scope.tokens.isEmpty ? nil : token.scope.description
            answer.iat = token.issuedAt.secondsSinceEpoch
            answer.exp = token.expiresAt.secondsSinceEpoch
        case .refreshToken(let record, let expiresAt):
            answer.describe(record.session, of: record.user, scope: record.standingScope)
            answer.cnf = record.session.keyThumbprint.map(IntrospectionResponse.Confirmation.init)
            answer.exp = expiresAt.secondsSinceEpoch
        }
        return answer
    }
}

extension Introspection {
    /// Returns true if it is a token for the API `audience`.
    fileprivate func isFor(_ audience: String) -> Bool {
        switch self {
        case .accessToken(let token): token.audience.contains(audience)
        case .clientToken(let token): token.audience.contains(audience)
        case .refreshToken, .inactive: false
        }
    }
}

extension IntrospectionResponse {
    /// Sets the token type by whether the access token is bound to a key (RFC 9449 section 6.2).
    fileprivate mutating func bind(to keyThumbprint: String?) {
        tokenType = keyThumbprint == nil ? "Bearer" : "DPoP"
        cnf = keyThumbprint.map(Confirmation.init)
    }

    /// Sets the members that access tokens and refresh tokens share.
    fileprivate mutating func describe(_ session: Session, of user: User?, scope granted: Scope) {
        scope = granted.tokens.isEmpty ? nil : granted.description
        clientID = session.clientID
        username = user?.shownUsername
        anonymous = user?.isAnonymous == true ? true : nil
        sub = session.userID.description
        sid = session.id.description
        deviceID = session.device.id
        authTime = session.authenticatedAt.secondsSinceEpoch
        acr = session.authenticationContext?.rawValue
        attestation = session.attestation
    }
}

extension Route {
    static let introspect = Route(
        .post, Endpoints.introspectionPath, errorFormat: .oauth, challenge: .basic, cors: .noOrigin,
        .open { try await $0.introspect($1) },
        Operation(
            "introspect", .oauth, "Check a token",
            """
            RFC 7662, for clients that authenticate. A refresh token is `active` only for its own client, or \
            with `refresh_token` as `token_type_hint`, because it opens no resource. `Accept: \
            application/token-introspection+jwt` asks for a signed answer (RFC 9701), unless the request prefers \
            JSON (RFC 9110 section 12.5.1).
            """,
            takes: .form, answers: [.inline(200, "Introspection")]))
}
