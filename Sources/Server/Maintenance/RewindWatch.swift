internal import Configuration
internal import Locks
internal import PostgresStore
internal import Sessions
internal import Telemetry

/// Notices that the database has gone back to an earlier state, as after a fail-over to a standby that lagged behind, and
/// applies the endings again that this node has acknowledged meanwhile.
///
/// - Reported is every loss: after a fail-over, a restart, a restore.
/// - Applied again is what a fail-over lost, and never what a restore did, because it may have been meant to undo just that. A
///   fail-over is a switch of the timeline to a server that already ran when the old one was last seen
///   (`PostgresStore.DatabaseLife.isFollowed`), and that has the event which was the newest one a minute before.
struct RewindWatch: Sendable {
    /// The time between two looks.
    static let period = Duration.seconds(5)
    /// The age of the event that a standby must have.
    static let anchorAge = Duration.seconds(60)
    /// Of how many of the newest events the oldest about a user is remembered, because the newest may be lost.
    private static let newestCount = 20

    private let store: PostgresStore
    private let endings: AcknowledgedEndings
    private let lost: LostEndings
    private let logger: Logger
    private let metrics: RewindMetrics
    private let now: @Sendable () -> ContinuousClock.Instant
    private let known = Locked<Known?>(nil)

    /// What is known of the database.
    private struct Known {
        var life: PostgresStore.DatabaseLife
        var seenAt: ContinuousClock.Instant
        /// The newest events of the last looks, the oldest first, and one that is older than `anchorAge` at most.
        var anchors: [(event: AuditEvent, at: ContinuousClock.Instant)] = []

        mutating func see(_ event: AuditEvent?, at now: ContinuousClock.Instant) {
            if let event, anchors.last?.event != event { anchors.append((event, now)) }
            while anchors.count > 1, now - anchors[1].at >= RewindWatch.anchorAge { anchors.removeFirst() }
        }
    }

    /// Nil for a database file, which no standby replaces.
    init?(
        _ application: Application, _ environment: Environment,
        now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) {
        guard case .postgres(let store) = application.database else { return nil }
        (self.store, endings, logger, self.now) = (store, application.endings, environment.logger, now)
        lost = LostEndings(application.context)
        metrics = RewindMetrics(in: application.metrics)
    }

    /// Repeats looks until the task is cancelled.
    @concurrent func run() async {
        await warn()
        while !Task.isCancelled {
            await look()
            try? await Task.sleep(for: Self.period)
        }
    }

    /// Warns of what a fail-over can lose.
    func warn() async {
        do throws(StoreError) {
            for warning in try await store.durability().warnings { logger.warning("PostgreSQL: \(warning)") }
            let life = try await store.life()
            if life.system == nil || life.timeline == nil {
                logger.warning(
                    "this role may not read the timeline of the database, so that after a fail-over lost endings are reported and not "
                        + "applied again: GRANT EXECUTE ON FUNCTION pg_control_system() TO the role")
            }
        } catch { logger.warning("it is not known what a fail-over can lose", ["cause": .string("\(error)")]) }
    }

    /// Looks once whether the database is another one than before. A look that fails is repeated.
    func look() async {
        do throws(StoreError) {
            let life = try await store.life()
            let lookedAt = now()
            guard let before = known.withLock({ $0 }), !before.life.isSame(as: life) else {
                let newest = try await store.events(before: nil, limit: Self.newestCount).map(\.event)
                    .last { $0.userID != nil }
                known.withLock { known in
                    var next = known ?? Known(life: life, seenAt: lookedAt)
                    (next.life, next.seenAt) = (life, lookedAt)
                    next.see(newest, at: lookedAt)
                    known = next
                }
                return
            }
            let isFailOver = before.life.isFollowed(by: life, seen: lookedAt - before.seenAt)
            try await compare(isFailOver: isFailOver, anchor: before.anchors.first?.event)
            known.withLock { $0 = Known(life: life, seenAt: lookedAt) }
        } catch {
            // The store has logged the failure.
        }
    }

    /// Compares what this node has acknowledged with what the database has.
    private func compare(isFailOver: Bool, anchor: AuditEvent?) async throws(StoreError) {
        let hasAnchor: Bool
        if let anchor { hasAnchor = try await lost.isRecorded(anchor) } else { hasAnchor = false }
        let applies = isFailOver && hasAnchor
        let (endings, last) = (endings.endings, endings.last)
        var isLastLost = false
        if let last { isLastLost = try await !lost.isRecorded(last) }
        var count = 0
        for ending in endings where try await lost.restore(ending, applies: applies) { count += 1 }
        guard count > 0 || isLastLost || !hasAnchor && anchor != nil else {
            return logger.notice(
                "the database was restarted or replaced, and has lost nothing that this node acknowledged")
        }
        metrics.note(count, applied: applies)
        let fields: LogFields = [
            "lost_endings": .int(count), "applied_again": .bool(applies), "is_fail_over": .bool(isFailOver),
        ]
        logger.error(
            applies
                ? "the database has lost changes that this node had acknowledged, and their endings are applied again: see what else "
                    + "the audit trail misses, and let the standby follow synchronously"
                : "the database has gone back to an earlier state than this node had acknowledged, as by a restore: endings since then "
                    + "are not in effect, and are not applied again", fields)
    }
}

/// What a node has noticed of databases that went back.
struct RewindMetrics: Sendable {
    private let rewinds: Counter
    private let endings: MetricFamily<Counter>

    init(in registry: MetricsRegistry) {
        rewinds = registry.counter(
            "sojourn_database_rewinds_total",
            help: "How often the database had lost what this node had acknowledged, after a fail-over or a restore.")
        endings = registry.counters(
            "sojourn_lost_endings_total",
            help: "Acknowledged endings that the database had lost, and whether they were applied again.",
            labels: [MetricLabel("outcome", values: ["applied", "reported"])])
    }

    func note(_ count: Int, applied: Bool) {
        rewinds.increment()
        endings[applied ? "applied" : "reported"].increment(by: UInt64(count))
    }
}
