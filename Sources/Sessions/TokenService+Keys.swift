// Signing keys that another node has made or withdrawn. The store counts such changes, and every call to it notices them.
extension TokenService {
    /// What `read` makes of a token. If that is nothing, perhaps another node has signed it with a key that is not known here.
    func claims(
        of token: String, _ read: (String) -> RollingToken?
    ) async throws(ServiceError) -> RollingToken? {
        if let claims = read(token) { return claims }
        guard rollingTokens.namesUnknownKey(token) else { return nil }
        _ = try await inStore { () async throws(StoreError) in try await store.settings() }
        guard context.signingKeys.isBehind else { return nil }
        try await followKeys()
        return read(token)
    }

    /// Reads the signing keys anew if another node has changed them, as far as the store has noticed.
    func followKeys() async throws(ServiceError) {
        try await inStore { () async throws(StoreError) in try await context.signingKeys.follow() }
    }
}
