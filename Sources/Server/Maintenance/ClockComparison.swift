internal import Locks
internal import PostgresStore
internal import Sessions
internal import Telemetry

/// Compares the clock of this machine with the clock of the database, which all nodes share. It shows the difference, and warns
/// when the difference is so large that a token could be accepted after its session has ended.
struct ClockComparison: Sendable {
    private let store: PostgresStore
    private let logger: Logger
    private let lead: Shown

    /// The last difference.
    private final class Shown: Sendable {
        let seconds = Locked(0.0)
        /// The difference, if it is too large.
        let excess = Locked<Duration?>(nil)
    }

    /// Nil for a database file, which has no clock of its own.
    init?(_ database: Database, _ metrics: MetricsRegistry, _ logger: Logger) {
        guard case .postgres(let store) = database else { return nil }
        let lead = Shown()
        (self.store, self.logger, self.lead) = (store, logger, lead)
        metrics.showClockSkew { lead.seconds.withLock { $0 } }
    }

    /// How far this machine's clock was ahead of the database's at the last comparison, if that is too far.
    var excessiveLead: Duration? {
        lead.excess.withLock { $0 }
    }

    /// Compares the clocks once.
    func compare() async {
        let skew: ClockSkew
        do throws(StoreError) { skew = try await store.clockSkew() } catch {
            logger.warning("the clock cannot be compared with the database's", ["cause": .string("\(error)")])
            return
        }
        lead.seconds.withLock { $0 = skew.lead / .seconds(1) }
        lead.excess.withLock { $0 = skew.isTooLarge ? skew.lead : nil }
        if !skew.isTooLarge { return }
        logger.warning(
            "this machine's clock is not the database's, and tokens can slip past an ending by the difference: let every node and "
                + "the database keep time by NTP",
            [
                "ahead_milliseconds": .int(Int(skew.lead / .milliseconds(1))),
                "allowed_milliseconds": .int(Int(ClockSkew.tolerance / .milliseconds(1))),
            ])
    }
}

extension MetricsRegistry {
    /// Shows the difference of the clocks, as `readLead` returns it.
    func showClockSkew(_ readLead: @escaping @Sendable () -> Double) {
        gauge(
            "sojourn_clock_skew_seconds", help: "How far this machine's clock is ahead of the database's.",
            reading: readLead)
    }
}
