/// Issues access tokens to confidential clients for themselves (RFC 6749 section 4.4), and revokes them. They belong to no
/// session, and end with what the client authenticated by (`Client.tokenEpoch`).
public final class ClientCredentialsService: UseCase {
    let context: ServiceContext
    let signer: TokenSigner

    init(_ context: ServiceContext, _ signer: TokenSigner) {
        self.context = context
        self.signer = signer
    }

    /// An access token for `client`, which has authenticated. It has the epoch of the client that was read then, so that a token
    /// for a secret that ends meanwhile is never valid.
    public func issue(
        to client: Client, scope requested: Scope?, resources: [String] = [], proof: ProofOfPossession? = nil
    ) async throws(ServiceError) -> (accessToken: String, scope: Scope, issuedAt: Instant, expiresAt: Instant) {
        guard !client.isPublic else { throw .unauthorizedClient }
        if let refusal = client.refusal(of: .clientCredentials) { throw refusal }
        if let refusal = client.dpop.refusal(ofKey: proof?.keyThumbprint, proof) { throw refusal }
        let scope = requested ?? client.scope
        guard client.scope.contains(scope) else { throw .invalidScope }
        let audience = try context.resourceRequirement(for: resources).audience(for: client)
        let settings = try await inStore(await store.settings())
        let now = context.clock.now
        let expiry = now + policy.lifetimes(settings: settings, client: client, user: nil).ownToken(of: client)
        try await signer.followKeysIfBehind()
        try proof?.use(for: client.dpop)
        let token = try signer.accessTokens.issue(
            forClient: client.id, epoch: settings.tokenEpoch(of: client), audience: audience, scope: scope,
            keyThumbprint: proof?.keyThumbprint, at: now, expiry: expiry)
        return (token, scope, now, expiry)
    }
}
