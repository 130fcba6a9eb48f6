internal import HTTP
internal import OAuth
internal import Sessions

extension Endpoints {
    /// `grant_type=authorization_code` (RFC 6749 section 4.1.3): starts the session of a login on the server's page, or
    /// continues the one that the app still has.
    func authorizationCodeGrant(
        _ request: TokenRequest, _ identity: ClientIdentity, _ call: Call
    ) async throws -> Response {
        let client = try await client(identity, call)
        if let refusal = client.refusal(of: .authorizationCode) { throw refusal }
        guard let code = request.code else { throw RequestProblem.invalid("code", "is missing") }
        guard let redirectURI = request.redirectURI else { throw RequestProblem.invalid("redirect_uri", "is missing") }
        guard request.codeVerifier != nil || client.page.pkce == .optional else {
            throw RequestProblem.invalid("code_verifier", "is missing")
        }
        var login = try loginRequest(request, for: client, by: .authorizationCode, call)
        login.resources = []
        return TokenAnswer.response(
            try await services.pageLogin.exchange(
                CodeExchangeRequest(
                    code: code, redirectURI: redirectURI, verifier: request.codeVerifier, login: login,
                    resources: request.resources), from: call.origin))
    }
}
