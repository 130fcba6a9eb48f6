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
///   (`PostgresStore.DatabaseLife.isFollowed`), that has the event which was the newest one a minute before, and that has lost
///   no ending of the time before.
struct RewindWatch: Sendable {
    /// The time between two looks.
    static let period = Duration.seconds(5)
    /// The age of the event, and of endings, that a standby must have.
    static let anchorAge = Duration.seconds(60)
    /// In how many of the newest events one about a user is looked for.
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
        /// The comparison that a failure has interrupted.
        var comparison: Comparison?

        mutating func see(_ event: AuditEvent?, at now: ContinuousClock.Instant) {
            if let event, anchors.last?.event != event { anchors.append((event, now)) }
            while anchors.count > 1, now - anchors[1].at >= RewindWatch.anchorAge { anchors.removeFirst() }
        }
    }

    /// A comparison of what this node has acknowledged with a database that is another one than before. The next look goes on
    /// with one that a failure interrupts.
    private struct Comparison {
        let life: PostgresStore.DatabaseLife
        let isFailOver: Bool
        /// The time at which the database before was last seen.
        let seenAt: ContinuousClock.Instant
        let anchor: AuditEvent?
        let endings: [AcknowledgedEndings.Entry]
        let recent: [AuditEvent]
        /// Nil until it is decided.
        var applies: Bool?
        /// The number of endings that are compared.
        var comparedCount = 0
        var appliedCount = 0
        var reportedCount = 0
        /// Whether an event is lost that need not be an ending.
        var hasLostEvent = false

        init(
            of before: Known, with life: PostgresStore.DatabaseLife, at now: ContinuousClock.Instant,
            _ memory: AcknowledgedEndings
        ) {
            self.life = life
            isFailOver = before.life.isFollowed(by: life, seen: now - before.seenAt)
            (seenAt, anchor) = (before.seenAt, before.anchors.first?.event)
            (endings, recent) = (LostEndings.standing(memory.endings), memory.recent)
            guard let earlier = before.comparison else { return }
            (appliedCount, reportedCount) = (earlier.appliedCount, earlier.reportedCount)
            hasLostEvent = earlier.hasLostEvent
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
                    "the timeline of the database cannot be read, so that after a fail-over lost endings are reported and not "
                        + "applied again: GRANT EXECUTE ON FUNCTION pg_control_system() TO the role, if the engine has it"
                )
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
                    .first { $0.userID != nil }
                known.withLock { known in
                    var next = known ?? Known(life: life, seenAt: lookedAt)
                    (next.life, next.seenAt) = (life, lookedAt)
                    next.see(newest, at: lookedAt)
                    known = next
                }
                endings.forget(lookedAt: lookedAt)
                return
            }
            var comparison: Comparison
            if let begun = before.comparison, begun.life.isSame(as: life) {
                comparison = begun
            } else {
                comparison = Comparison(of: before, with: life, at: lookedAt, endings)
            }
            do throws(StoreError) {
                try await compare(&comparison)
            } catch {
                var interrupted = before
                interrupted.comparison = comparison
                let next = interrupted
                known.withLock { $0 = next }
                throw error
            }
            report(comparison)
            known.withLock { $0 = Known(life: life, seenAt: lookedAt) }
        } catch {
            // The store has logged the failure.
        }
    }

    /// Compares what this node has acknowledged with what the database has.
    private func compare(_ comparison: inout Comparison) async throws(StoreError) {
        let applies: Bool
        if let decided = comparison.applies {
            applies = decided
        } else {
            applies = try await decide(&comparison)
            comparison.applies = applies
        }
        while comparison.comparedCount < comparison.endings.count {
            let event = comparison.endings[comparison.comparedCount].event
            switch try await lost.restore(event, applies: applies) {
            case .kept: break
            case .reported: comparison.reportedCount += 1
            case .applied: comparison.appliedCount += 1
            }
            comparison.comparedCount += 1
        }
    }

    /// Whether lost endings may be applied again. Looks for lost events before any ending is written again.
    private func decide(_ comparison: inout Comparison) async throws(StoreError) -> Bool {
        for event in comparison.recent.reversed() where !comparison.hasLostEvent {
            comparison.hasLostEvent = try await lost.isLost(event)
        }
        guard let anchor = comparison.anchor else { return false }
        guard try await lost.isRecorded(anchor) else {
            if try await lost.isLost(anchor) { comparison.hasLostEvent = true }
            return false
        }
        guard comparison.isFailOver else { return false }
        for entry in comparison.endings where entry.at < comparison.seenAt - Self.anchorAge {
            if try await lost.restore(entry.event, applies: false) != .kept { return false }
        }
        return true
    }

    private func report(_ comparison: Comparison) {
        let (applied, reported) = (comparison.appliedCount, comparison.reportedCount)
        guard applied + reported > 0 || comparison.hasLostEvent else {
            return logger.notice(
                "the database was restarted or replaced, and has lost nothing that this node acknowledged")
        }
        metrics.note(applied: applied, reported: reported)
        let fields: LogFields = [
            "lost_endings": .int(applied + reported), "applied_again": .int(applied),
            "is_fail_over": .bool(comparison.isFailOver),
        ]
        logger.error(
            comparison.applies == true
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

    func note(applied: Int, reported: Int) {
        rewinds.increment()
        endings["applied"].increment(by: UInt64(applied))
        endings["reported"].increment(by: UInt64(reported))
    }
}
