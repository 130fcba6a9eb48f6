/// The requests about tokens that may be used once.
public protocol UsedTokenReader {
    /// Whether the token was used before `token.at` and is still remembered.
    func isUsed(_ token: OneTimeToken) -> Answer<Bool>

    /// The used tokens that are not yet too old to be accepted at `now`, in the order of their digests.
    func usedTokens(after digest: [UInt8]?, at now: Instant, limit: Int) -> Answer<[OneTimeToken]>
}

/// The requests and writes about tokens that may be used once inside a transaction.
public protocol UsedTokenTransaction: UsedTokenReader {
    /// Adds a used token, or uses one again that is forgotten at `token.at`. False if it was used before; nothing was written.
    func insert(_ token: OneTimeToken) -> Answer<Bool>

    /// Deletes up to `limit` used tokens that became too old at `instant` or before. Returns the number of deleted rows.
    func deleteUsedTokens(before instant: Instant, limit: Int) -> Answer<Int>
}

/// The requests about signing keys and admin keys.
public protocol KeyReader {
    /// The signing keys, in the order in which they were made.
    func signingKeys() -> Answer<[StoredSigningKey]>

    /// The admin keys, in the order in which they were made.
    func adminKeys() -> Answer<[AdminKey]>
}

/// The requests and writes about signing keys and admin keys inside a transaction.
public protocol KeyTransaction: KeyReader {
    /// Adds or replaces signing keys, and deletes those with the ids `deleted`. Every node reads them with its next request.
    func write(_ keys: [StoredSigningKey], deleting deleted: [String])

    /// Adds or replaces admin keys, and deletes those with the ids `deleted`.
    func write(_ keys: [AdminKey], deleting deleted: [String])
}
