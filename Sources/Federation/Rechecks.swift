public import Sessions
public import Telemetry

/// Rechecks the due sessions of one identity provider, a few at a time. Many nodes can do so at once: each session is leased
/// to one node until its answer is written, or for a minute.
public struct Rechecks: Sendable {
    /// The result of one round.
    enum Round: Equatable {
        /// Nothing was due.
        case idle
        /// The number of sessions asked about; the provider has answered for at least one.
        case answered(Int)
        /// The provider has answered for no session.
        case failed
    }

    /// The time between two reads of the store when nothing is due.
    static let pause = Duration.seconds(5)
    static let longestDelay = Duration.seconds(60)

    let name: String
    let recheck: IdentityProvider.Recheck
    let checks: ProviderCheckService
    let asker: any ProviderAsker
    let clock: WallClock
    let logger: Logger
    let metrics: RecheckMetrics

    /// One value for each of `providers` that has rechecks.
    public static func all(
        _ providers: [IdentityProvider], of verifier: IdentityProviders, checks: ProviderCheckService, clock: WallClock,
        metrics: MetricsRegistry, logger: Logger
    ) -> [Rechecks] {
        let rechecked = providers.compactMap { provider in provider.recheck.map { (provider.name, $0) } }
        if rechecked.isEmpty { return [] }
        let metrics = RecheckMetrics(metrics, providers: rechecked.map(\.0))
        return rechecked.map { name, recheck in
            Rechecks(
                name: name, recheck: recheck, checks: checks, asker: verifier, clock: clock, logger: logger,
                metrics: metrics)
        }
    }

    /// Rechecks until the task is cancelled. Questions under way are then completed, so that no answer is lost.
    @concurrent public func run() async {
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

    /// Asks about up to `limit` due sessions at once.
    func round(limit: Int) async -> Round {
        let due: [ProviderCheck]
        do throws(ServiceError) { due = try await checks.claimDue(of: name, limit: limit) } catch {
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

    /// Nil if the database did not answer; the session is due again when the lease expires.
    private func check(_ check: ProviderCheck) async -> RecheckOutcome? {
        do throws(ServiceError) {
            let outcome = try await checks.recheck(check, recheck.terms, by: asker)
            metrics.outcomes[name, outcome.rawValue].increment()
            return outcome
        } catch {
            logger.warning(
                "what a provider has answered about a session cannot be written",
                ["provider": .string(name), "cause": .string("\(error)")])
            return nil
        }
    }
}

/// The counters of rechecks.
struct RecheckMetrics: Sendable {
    let outcomes: MetricFamily<Counter>
    let failingSeconds: MetricFamily<Gauge>

    init(_ registry: MetricsRegistry, providers names: [String]) {
        outcomes = registry.counters(
            "sojourn_identity_rechecks_total", help: "Questions to a provider about a session, by what they came to.",
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
