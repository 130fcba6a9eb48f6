internal import Cryptography
internal import JOSE
internal import Sessions

/// The keys of one provider: fetched when they are needed first, again when they are old or one is missing, by one fetch for
/// all who wait, and no more often than every half minute, whatever tokens name.
actor ProviderKeys {
    private let provider: IdentityProvider
    private let clock: WallClock
    private let fetch: @Sendable () async throws(FetchProblem) -> JWKSet
    private let note: @Sendable (FetchProblem?) -> Void

    private var keys: JWKSet?
    private var fetchedAt = Instant(secondsSinceEpoch: .min)
    private var triedAt: Instant?
    private var hasFailed = false
    private var running: Task<Void, Never>?

    init(
        _ provider: IdentityProvider, clock: WallClock,
        fetch: @escaping @Sendable () async throws(FetchProblem) -> JWKSet,
        note: @escaping @Sendable (FetchProblem?) -> Void
    ) {
        self.provider = provider
        self.clock = clock
        self.fetch = fetch
        self.note = note
    }

    /// The key that is named so; nil when the provider has none.
    func key(_ id: String?) async throws(ServiceError) -> VerificationKey? {
        if isWithin(provider.keyLifetime), let key = keys?.verificationKey(kid: id) { return key }
        await renew()
        // What is known serves while the provider is down; that a key is not known does not show that there is none.
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

    /// Fetches, or waits for the fetch that runs; nothing, when the last one began a moment ago.
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
        do throws(FetchProblem) {
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
