internal import Locks

/// Which ID tokens have started a session, for as long as they are good: each starts one at most.
///
/// A token is taken when its login begins, and given back when that came to nothing, so that an app that was told to try
/// again can, with the only token it has. While a login has not ended, another one by the same token is told to come later:
/// nobody knows yet.
final class IdentityTokenUses: Sendable {
    private let used = ReplayCache(longest: TokenService.identityTokenAgeMax)
    private let undecided = Locked<Set<String>>([])

    /// Runs a login by that identity's token.
    func once<Value>(
        _ identity: ExternalIdentity, at now: Instant, _ login: () async throws(ServiceError) -> Value
    ) async throws(ServiceError) -> Value {
        // Not by provider: two entries of one issuer take the same token, and a token of another issuer says so.
        let (id, owner) = (identity.tokenID, "")
        guard undecided.withLock({ $0.insert(id).inserted }) else { throw .overloaded }
        defer { undecided.withLock { _ = $0.remove(id) } }
        guard used.present(id, of: owner, until: identity.goodUntil, at: now) == .fresh else {
            throw .identityRefused(.replayed)
        }
        do throws(ServiceError) { return try await login() } catch {
            used.withdraw(id, of: owner, until: identity.goodUntil)
            throw error
        }
    }
}
