internal import Cryptography
internal import JOSE
internal import Sessions

/// The keys of one provider. They are fetched on first use, and again when they are old or a key is missing. All
/// waiting requests share one fetch, and fetches start at most every half minute, whatever key IDs tokens have.
actor ProviderKeys {
    private let provider: IdentityProvider
    private let clock: WallClock
    private let fetch: @Sendable () async throws(FetchError) -> JWKSet
    private let note: @Sendable (FetchError?) -> Void

    private var keys: JWKSet?
    private var fetchedAt = Instant(secondsSinceEpoch: .min)
    private var triedAt: Instant?
    private var hasFailed = false
    private var running: Task<Void, Never>?

    init(
        _ provider: IdentityProvider, clock: WallClock,
        fetch: @escaping @Sendable () async throws(FetchError) -> JWKSet,
        note: @escaping @Sendable (FetchError?) -> Void
    ) {
        self.provider = provider
        self.clock = clock
        self.fetch = fetch
        self.note = note
    }

    /// Returns the key with that ID; nil if the provider has none. Throws `identityProviderUnavailable` if that cannot
    /// be decided.
    func key(_ id: String?) async throws(ServiceError) -> VerificationKey? {
        if isWithin(provider.keyLifetime), let key = keys?.verificationKey(kid: id) { return key }
        await renew()
        // Known keys stay usable while the provider is down. A missing key is not proof that it does not exist.
        if isWithin(provider.keyLifetime + provider.staleKeyLifetime), let key = keys?.verificationKey(kid: id) {
            return key
        }
        if hasFailed || keys == nil { throw .identityProviderUnavailable }
        return nil
    }

    private func isWithin(_ lifetime: Duration) -> Bool {
        let now = clock.now
        return keys != nil && now >= fetchedAt && now < fetchedAt + lifetime
    }

    /// Fetches the keys, or waits for the fetch in progress. Does nothing if the last fetch started less than
    /// `fetchInterval` ago.
    private func renew() async {
        if let running { return await running.value }
        let now = clock.now
        if let triedAt, now >= triedAt, now < triedAt + .seconds(IdentityProvider.fetchInterval) { return }
        triedAt = now
        let task = Task { await self.run() }
        running = task
        await task.value
    }

    private func run() async {
        do throws(FetchError) {
            keys = try await fetch()
            fetchedAt = clock.now
            hasFailed = false
            note(nil)
        } catch {
            hasFailed = true
            note(error)
        }
        running = nil
    }
}
