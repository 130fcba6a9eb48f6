/// Issues access tokens to confidential clients for themselves (RFC 6749 section 4.4). They belong to no session.
public final class ClientCredentialsService: UseCase {
    let context: ServiceContext
    private let signer: TokenSigner

    init(_ context: ServiceContext, _ signer: TokenSigner) {
        self.context = context
        self.signer = signer
    }

    /// An access token for `client`, which has authenticated.
    public func issue(
        to client: Client, scope requested: Scope?, resources: [String] = [], proof: ProofOfPossession? = nil
    ) async throws(ServiceError) -> (accessToken: String, scope: Scope, issuedAt: Instant, expiresAt: Instant) {
        guard !client.isPublic, client.grantTypes.contains(.clientCredentials) else { throw .unauthorizedClient }
        if client.dpop == .required, proof == nil { throw .proofMissing }
        let scope = requested ?? client.scope
        guard client.scope.contains(scope) else { throw .invalidScope }
        let audience = try context.resourceRequirement(for: resources).audience(for: client)
        let settings = try await inStore { () async throws(StoreError) in try await store.settings() }
        let now = context.clock.now
        let expiry = now + policy.lifetimes(settings: settings, client: client, user: nil).accessToken
        try await signer.followKeysIfBehind()
        try proof?.use()
        let token = try signer.accessTokens.issue(
            forClient: client.id, audience: audience, scope: scope, keyThumbprint: proof?.keyThumbprint, at: now,
            expiry: expiry)
        return (token, scope, now, expiry)
    }
}
