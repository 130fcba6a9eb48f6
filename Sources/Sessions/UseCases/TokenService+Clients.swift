internal import Cryptography

extension TokenService {
    /// The client that proved itself by its secret, or a public one that named itself. `method` is how the request did.
    public func authenticateClient(
        id: String, secret: String?, method: Client.AuthenticationMethod
    ) async throws(ServiceError) -> Client {
        guard Device.isValid(id: id),
            let client = try await inStore({ () async throws(StoreError) in try await store.client(id) })
        else { throw .invalidClient }
        guard client.authenticationMethod == method else { throw .invalidClient }
        if client.isPublic { return client }
        // Whoever signs assertions has no secret to compare.
        // Constant time: how much of a guessed secret's hash is right must not show.
        guard let secret, let hash = client.secretHash, constantTimeEqual(sha256(Array(secret.utf8)), hash) else {
            throw .invalidClient
        }
        return client
    }

    /// A rolling token that a confidential client gets for itself (RFC 6749 section 4.4). It belongs to no session.
    public func clientCredentials(
        _ client: Client, scope requested: Scope?, resources: [String] = [], proof: ProofOfPossession? = nil
    ) async throws(ServiceError) -> (accessToken: String, scope: Scope, issuedAt: Instant, expiresAt: Instant) {
        guard !client.isPublic, client.grantTypes.contains(.clientCredentials) else { throw .unauthorizedClient }
        if client.dpop == .required, proof == nil { throw .proofMissing }
        let scope = requested ?? client.scope
        guard client.scope.contains(scope) else { throw .invalidScope }
        let audience = try context.demand(for: resources).audience(for: client)
        let settings = try await inStore { () async throws(StoreError) in try await store.settings() }
        let now = context.clock.now
        let expiry = now + policy.lifetimes(settings: settings, client: client, user: nil).accessToken
        if context.signingKeys.isBehind { try await followKeys() }
        try proof?.use()
        let token = try accessTokenIssuer.issue(
            forClient: client.id, audience: audience, scope: scope, keyThumbprint: proof?.keyThumbprint, at: now,
            expiry: expiry)
        return (token, scope, now, expiry)
    }
}
