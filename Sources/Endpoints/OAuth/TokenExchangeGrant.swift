internal import HTTP
internal import OAuth
internal import Sessions

extension Endpoints {
    /// `grant_type=urn:ietf:params:oauth:grant-type:token-exchange` (RFC 8693): opens a session by an ID token of an identity
    /// provider, for clients with this grant.
    func tokenExchangeGrant(_ request: TokenRequest, _ identity: ClientIdentity, _ call: Call) async throws -> Response
    {
        let client = try await client(identity, call)
        if let refusal = client.refusal(of: .tokenExchange) { throw refusal }
        let exchange = request.exchange
        guard let subject = exchange.subjectToken else { throw RequestProblem.invalid("subject_token", "is missing") }
        guard let subjectType = exchange.subjectTokenType else {
            throw RequestProblem.invalid("subject_token_type", "is missing")
        }
        guard subjectType == TokenExchangeParameters.TokenType.idToken.rawValue else {
            throw RequestProblem.invalid(
                "subject_token_type", "must be \(TokenExchangeParameters.TokenType.idToken.rawValue)")
        }
        // An actor token is refused, because delegation is not supported; `actor_token_type` must not stand alone (section
        // 2.1).
        if exchange.actorToken != nil || exchange.actorTokenType != nil {
            throw RequestProblem.invalid("actor_token", "is not supported")
        }
        let type = try requestedType(exchange, client)
        if let nonce = exchange.nonce, !Text.isValid(nonce, lengthMax: 512) {
            throw RequestProblem.invalid("nonce", "must have 1 to 512 bytes and no control characters")
        }
        var login = try loginRequest(request, for: client, by: .tokenExchange, call)
        // `resource` and `audience` together name the targets of the token (section 2.1).
        login.resources += exchange.audiences
        if let token = exchange.providerRefreshToken, !ProviderCheckService.isProviderToken(token) {
            throw RequestProblem.invalid("provider_refresh_token", Self.providerTokenRule)
        }
        login.providerRefreshToken = exchange.providerRefreshToken
        do throws(ServiceError) {
            return try await logIn(
                login, by: IdentityToken(provider: nil, text: subject, nonce: exchange.nonce), call
            ) { (grant) throws(ServiceError) in
                // Beside the access token alone: a client that asks for a refresh token gets no other token.
                let idToken = type == .accessToken ? try idToken(of: grant, for: request) : nil
                return TokenAnswer.response(grant, as: type, idToken: idToken)
            }
        } catch {
            if case .loginRefused(let reason) = error { throw RequestProblem.subjectRefused(reason) }
            throw error
        }
    }

    static let providerTokenRule =
        "must have 1 to \(ProviderCheckService.providerTokenLengthMax) characters of printable ASCII"

    /// The type of the token to issue; an access token by default.
    private func requestedType(
        _ exchange: TokenExchangeParameters, _ client: Client
    ) throws -> TokenExchangeParameters.TokenType {
        guard let name = exchange.requestedTokenType else { return .accessToken }
        switch TokenExchangeParameters.TokenType(rawValue: name) {
        case .accessToken?: return .accessToken
        case .refreshToken? where client.tokenStyle == .separate: return .refreshToken
        default: throw RequestProblem.invalid("requested_token_type", "cannot be issued to this client")
        }
    }

    /// Logs a user in by ID token for `/oauth/token` and `/v1/login`, and makes the answer.
    func logIn(
        _ request: SessionRequest, by token: IdentityToken, _ call: Call,
        answer: (TokenGrant) throws(ServiceError) -> Response
    ) async throws(ServiceError) -> Response {
        do throws(ServiceError) {
            guard let identityVerifier else { throw .identityRefused(.unknownProvider) }
            let grant = try await rateLimiter.identity(in: call) { () async throws(ServiceError) in
                let identity = try await services.federation.identity(
                    of: token, by: identityVerifier, from: call.origin)
                let name = "\(identity.key.provider)\0\(identity.key.subject)"
                try rateLimiter.admitLogin(username: name, deviceID: request.device.id)
                return try await rateLimiter.session(of: name) { () async throws(ServiceError) in
                    try await services.federation.logIn(request, as: identity, from: call.origin)
                }
            }
            let response = try answer(grant)
            metrics.countLogin()
            return response
        } catch {
            metrics.countLogin(failing: error)
            throw error
        }
    }
}
