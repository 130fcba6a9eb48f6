internal import Federation
internal import Sessions
internal import Telemetry

/// Asks one identity provider again about the sessions that are due, a few at a time. Any number of nodes do so beside each other:
/// a session is one node's until it is settled, or the node has not been heard from for a minute.
struct Rechecks: Sendable {
    /// What one round came to.
    enum Round: Equatable {
        /// Nothing was due.
        case idle
        /// So many sessions were asked about, and the provider has answered for one at least.
        case answered(Int)
        /// The provider has answered for none.
        case failed
    }

    /// How long nobody looks, when nothing is due.
    static let pause = Duration.seconds(5)
    static let longestDelay = Duration.seconds(60)

    let name: String
    let recheck: IdentityProvider.Recheck
    let tokens: TokenService
    let asker: any ProviderAsker
    let clock: WallClock
    let logger: Logger
    let metrics: RecheckMetrics

    /// Works until the task is cancelled; what is under way then is brought to its end, so that no answer is lost.
    @concurrent func run() async {
        var failures = 0
        var failingSince: Instant?
        while !Task.isCancelled {
            let started = ContinuousClock.now
            // A provider that is down is asked about one session at a time.
            let round = await round(limit: failures == 0 ? recheck.concurrency : 1)
            switch round {
            case .idle:
                try? await Task.sleep(for: Self.pause)
            case .answered(let count):
                if failingSince != nil {
                    logger.notice("the identity provider answers again", ["provider": .string(name)])
                }
                (failures, failingSince) = (0, nil)
                try? await Task.sleep(until: started + .seconds(1) * count / recheck.rate)
            case .failed:
                failures += 1
                failingSince = failingSince ?? clock.now
                try? await Task.sleep(for: min(Self.longestDelay, .seconds(1 << min(failures, 10))))
            }
            metrics.failingSeconds[name].set(failingSince.map { max(0, (clock.now - $0).wholeSeconds) } ?? 0)
        }
    }

    /// Asks about up to `limit` sessions that are due, all at once.
    func round(limit: Int) async -> Round {
        let due: [ProviderCheck]
        do throws(ServiceError) { due = try await tokens.dueProviderChecks(of: name, limit: limit) } catch {
            logger.warning("the sessions that are due for a provider cannot be read", ["cause": .string("\(error)")])
            return .idle
        }
        if due.isEmpty { return .idle }
        let outcomes = await withTaskGroup(of: RecheckOutcome?.self) { group in
            for check in due { group.addTask { await self.check(check) } }
            return await group.reduce(into: []) { outcomes, outcome in outcomes.append(outcome) }
        }
        let hasAnswer = outcomes.contains { $0 != nil && $0 != .failed }
        return hasAnswer ? .answered(due.count) : .failed
    }

    /// Nil: the database did not answer, and another try comes when the lease is over.
    private func check(_ check: ProviderCheck) async -> RecheckOutcome? {
        do throws(ServiceError) {
            let outcome = try await tokens.recheck(check, recheck.terms, by: asker)
            metrics.outcomes[name, outcome.rawValue].increment()
            return outcome
        } catch {
            logger.warning(
                "the answer of a provider about a session cannot be stored",
                ["provider": .string(name), "cause": .string("\(error)")])
            return nil
        }
    }
}

/// What rechecks count.
struct RecheckMetrics: Sendable {
    let outcomes: MetricFamily<Counter>
    let failingSeconds: MetricFamily<Gauge>

    init(_ registry: MetricsRegistry, providers names: [String]) {
        outcomes = registry.counters(
            "sojourn_identity_rechecks_total", help: "Questions to a provider about a session, by outcome.",
            labels: [
                MetricLabel("provider", values: names),
                MetricLabel("outcome", values: RecheckOutcome.allCases.map(\.rawValue)),
            ])
        failingSeconds = registry.gauges(
            "sojourn_identity_recheck_failing_seconds",
            help: "How long a provider has given no answer about any session that this node asked about.",
            labels: [MetricLabel("provider", values: names)])
    }
}

extension Application {
    /// One for each provider that is asked again.
    func rechecks(_ logger: Logger) -> [Rechecks] {
        let asked = providers.compactMap { provider in provider.recheck.map { (provider.name, $0) } }
        guard let identityProviders, !asked.isEmpty else { return [] }
        let metrics = RecheckMetrics(metrics, providers: asked.map(\.0))
        return asked.map { name, recheck in
            Rechecks(
                name: name, recheck: recheck, tokens: TokenService(context), asker: identityProviders,
                clock: context.clock, logger: logger, metrics: metrics)
        }
    }
}
