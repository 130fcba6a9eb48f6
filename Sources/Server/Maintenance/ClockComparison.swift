internal import Configuration
internal import Locks
internal import PostgresStore
internal import Sessions
internal import Telemetry

/// Compares the clock of this machine with the clock of the database, which is the time of all nodes. It shows the difference,
/// tells the other nodes of it, and warns when it is too large. No answer depends on it, because a node goes by the database's
/// time.
struct ClockComparison: Sendable {
    /// The time between two comparisons, and the age from which the last answer of the database with a time is too old for one.
    static let period = Duration.seconds(5)
    /// The time between two reports to the other nodes while the clocks agree.
    static let reportPeriod = Duration.seconds(10)
    /// The age of a difference from which new reports of other nodes count. Within it every node has noticed that another server
    /// answers, or that the database's clock was set.
    static let doubtPeriod = period * 2

    private let store: PostgresStore
    private let logger: Logger
    private let node: String
    private let now: @Sendable () -> ContinuousClock.Instant
    private let state: State

    private final class State: Sendable {
        struct Values {
            /// The last difference.
            var lead = Duration.zero
            var allowed = ClockSkew.allowed(for: nil)
            var verdict = ClockVerdict.right
            var reportedAt: ContinuousClock.Instant?
            /// The beginning of the present difference.
            var offSince: ContinuousClock.Instant?
            /// The numbers of the others' reports that were there when the difference had that age. They do not count: they may
            /// be about another server, or of nodes that are gone.
            var earlier: [String: Int64]?
            /// Whether the last comparison failed.
            var isBlind = false
        }

        let values = Locked(Values())
    }

    /// Nil for a database file, which has no clock of its own.
    init?(
        _ application: Application, _ environment: Environment,
        now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) {
        guard case .postgres(let store) = application.database else { return nil }
        self.init(store, application.metrics, environment.logger, node: application.node(environment), now: now)
    }

    /// The comparison of the node of that name, which no other node has.
    init(
        _ store: PostgresStore, _ metrics: MetricsRegistry, _ logger: Logger, node: String,
        now: @escaping @Sendable () -> ContinuousClock.Instant
    ) {
        let state = State()
        (self.store, self.logger, self.node, self.now, self.state) = (store, logger, node, now, state)
        metrics.showClockSkew(
            { state.values.withLock { $0.lead / .seconds(1) } },
            allowed: { state.values.withLock { $0.allowed / .seconds(1) } })
    }

    /// How far this machine's clock was ahead of the database's at the last comparison, if that is too far.
    var excessiveLead: Duration? {
        state.values.withLock { $0.verdict == .right ? nil : $0.lead }
    }

    /// Whether other nodes agree with the database and this machine does not.
    var isOutvoted: Bool { state.values.withLock { $0.verdict == .outvoted } }

    /// Repeats comparisons until the task is cancelled.
    @concurrent func run() async {
        while !Task.isCancelled {
            await compare()
            try? await Task.sleep(for: Self.period)
        }
        let isTold = state.values.withLock { $0.reportedAt != nil && !$0.isBlind }
        if isTold { try? await store.forgetLead(of: node) }
    }

    /// Compares the clocks once.
    func compare() async {
        do throws(StoreError) {
            try await judge(try await store.clockSkew(ofAge: Self.period))
            state.values.withLock { $0.isBlind = false }
        } catch {
            let isNew = state.values.withLock { values in
                defer { values.isBlind = true }
                return !values.isBlind
            }
            guard isNew else { return }
            logger.warning("the clock cannot be compared with the database's", ["cause": .string("\(error)")])
        }
    }

    /// Tells the other nodes of the difference, and judges it by theirs.
    private func judge(_ skew: ClockSkew) async throws(StoreError) {
        let (isDue, isInDoubt) = state.values.withLock { values in
            values.lead = skew.lead
            return (values.reportedAt.map { now() - $0 >= Self.reportPeriod } ?? true, values.verdict != .right)
        }
        // A node in doubt asks the others each time.
        guard isDue || isInDoubt || skew.exceeds(ClockSkew.allowed(for: nil)) else { return }
        let allowed = ClockSkew.allowed(for: try await store.catalogue().settings.sessions)
        state.values.withLock { $0.allowed = allowed }
        let isRight = !skew.exceeds(allowed)
        guard isDue || isInDoubt || !isRight else { return }
        let others = try await store.exchangeLeads(of: node, skew.certainLead)
        let votes = votes(of: others, isRight: isRight)
        settle(ClockVerdict(skew.certainLead, votes, allowed: allowed), skew.lead, allowed)
    }

    /// The leads of the reports that are new since this node's difference had the age `doubtPeriod`.
    private func votes(of others: [PostgresStore.ClockReport], isRight: Bool) -> [Duration] {
        let now = now()
        return state.values.withLock { values in
            if isRight {
                (values.offSince, values.earlier) = (nil, nil)
                return []
            }
            let since = values.offSince ?? now
            values.offSince = since
            guard now - since >= Self.doubtPeriod else { return [] }
            let earlier =
                values.earlier ?? Dictionary(others.map { ($0.node, $0.number) }, uniquingKeysWith: { $1 })
            values.earlier = earlier
            return others.filter { earlier[$0.node] != $0.number }.map(\.lead)
        }
    }

    /// Logs a verdict that is new.
    private func settle(_ verdict: ClockVerdict, _ lead: Duration, _ allowed: Duration) {
        let isNew = state.values.withLock { values in
            defer { values.verdict = verdict }
            values.reportedAt = now()
            return values.verdict != verdict
        }
        guard isNew else { return }
        let fields: LogFields = [
            "ahead_milliseconds": .int(Int(lead / .milliseconds(1))),
            "allowed_milliseconds": .int(Int(allowed / .milliseconds(1))),
        ]
        switch verdict {
        case .right: logger.notice("this machine's clock is the database's again", fields)
        case .wrong:
            logger.warning(
                "this machine's clock is not the database's, by which all nodes go: let every node and the database keep time by "
                    + "NTP", fields)
        case .outvoted:
            logger.error(
                "this machine's clock is neither the database's nor that of the other nodes, and this node is not ready: let this "
                    + "machine keep time by NTP", fields)
        case .database:
            logger.error(
                "the database's clock, by which all nodes go, is not that of any of their machines: let the database's machine "
                    + "keep time by NTP", fields)
        }
    }
}

extension MetricsRegistry {
    /// Shows the difference of the clocks, as `readLead` returns it, and how large it may be.
    func showClockSkew(
        _ readLead: @escaping @Sendable () -> Double, allowed readAllowed: @escaping @Sendable () -> Double
    ) {
        gauge(
            "sojourn_clock_skew_seconds", help: "How far this machine's clock is ahead of the database's.",
            reading: readLead)
        gauge(
            "sojourn_clock_skew_allowed_seconds",
            help: "How far it may be ahead or behind: a quarter of the rotation interval, a second at least.",
            reading: readAllowed)
    }
}
