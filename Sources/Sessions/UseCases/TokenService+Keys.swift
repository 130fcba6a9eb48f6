// Signing keys that another node has made or withdrawn. The store counts such changes, and every call to it notices them.
extension TokenService {
    /// What `read` makes of a token. If that is nothing, perhaps another node has signed it with a key that is not known here.
    func claims(
        of token: String, _ read: (String) -> AccessToken?
    ) async throws(ServiceError) -> AccessToken? {
        if let claims = read(token) { return claims }
        guard accessTokenIssuer.namesUnknownKey(token) else { return nil }
        _ = try await inStore { () async throws(StoreError) in try await store.settings() }
        guard context.signingKeys.isBehind else { return nil }
        try await followKeys()
        return read(token)
    }

    /// Whether a token that was good when the keys of reading `number` were held, and after which the store was asked, still is:
    /// the answer has told if another node has withdrawn a key. Perhaps it told somebody else, who was quicker.
    func stands(_ token: String, since number: Int) async throws(ServiceError) -> Bool {
        if context.signingKeys.isBehind { try await followKeys() }
        return context.signingKeys.readingNumber == number || accessTokenIssuer.verify(token) != nil
    }

    /// Asks the store for what other nodes have done to the keys. While it cannot be asked, what is known has to do.
    public func lookForKeys() async {
        guard (try? await store.settings()) != nil else { return }
        try? await followKeys()
    }

    /// Reads the signing keys anew if another node has changed them, as far as the store has noticed.
    func followKeys() async throws(ServiceError) {
        try await inStore { () async throws(StoreError) in try await context.signingKeys.follow() }
    }
}
