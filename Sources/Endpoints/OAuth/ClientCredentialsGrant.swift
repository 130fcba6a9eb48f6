internal import HTTP
internal import OAuth
internal import Sessions

extension Endpoints {
    /// `grant_type=client_credentials` (RFC 6749 section 4.4): a token for the client itself, without a session.
    func clientCredentialsGrant(
        _ request: TokenRequest, _ identity: ClientIdentity, _ call: Call
    ) async throws -> Response {
        let client = try await client(identity, call)
        if case .authenticated = identity { try rateLimiter.admitClientToken(client) }
        let granted = try await services.clientCredentials.issue(
            to: client, scope: try request.requestedScope(), resources: request.resources,
            proof: call.proof)
        return TokenAnswer.response(
            granted.accessToken, scope: granted.scope, issuedAt: granted.issuedAt, expiresAt: granted.expiresAt,
            isBound: call.proof != nil)
    }
}
