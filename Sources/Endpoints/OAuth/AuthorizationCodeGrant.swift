internal import HTTP
internal import OAuth
internal import Sessions

extension Endpoints {
    /// `grant_type=authorization_code` (RFC 6749 section 4.1.3): starts the session of a login on the server's page.
    func authorizationCodeGrant(
        _ request: TokenRequest, _ identity: ClientIdentity, _ call: Call
    ) async throws -> Response {
        let client = try await client(identity, call)
        guard client.grantTypes.contains(.authorizationCode) else { throw ServiceError.unauthorizedClient }
        guard let code = request.code else { throw RequestProblem.invalid("code", "is missing") }
        guard let redirectURI = request.redirectURI else { throw RequestProblem.invalid("redirect_uri", "is missing") }
        guard let verifier = request.codeVerifier else { throw RequestProblem.invalid("code_verifier", "is missing") }
        guard request.sessionID == nil else {
            throw RequestProblem.invalid("session_id", "is not for this grant: the login starts a session of its own")
        }
        var login = try loginRequest(request, for: client, by: .authorizationCode, call)
        login.resources = []
        return TokenAnswer.response(
            try await services.hostedLogin.exchange(
                CodeExchangeRequest(
                    code: code, redirectURI: redirectURI, verifier: verifier, login: login,
                    resources: request.resources), from: call.origin))
    }
}
