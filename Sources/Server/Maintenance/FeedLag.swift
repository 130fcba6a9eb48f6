internal import Locks
internal import PostgresStore
internal import Sessions
internal import Telemetry

/// Shows how far the readers of the audit trail and of the feed of revocations are behind, because of a transaction of any node
/// that has written events and has not ended.
struct FeedLag: Sendable {
    /// The time between two looks.
    static let period = Duration.seconds(10)

    private let store: PostgresStore
    private let logger: Logger
    private let seconds = Locked(0.0)

    /// Nil for a database file: its readers are never behind.
    init?(_ database: Database, _ metrics: MetricsRegistry, _ logger: Logger) {
        guard case .postgres(let store) = database else { return nil }
        (self.store, self.logger) = (store, logger)
        let seconds = seconds
        metrics.showFeedLag { seconds.withLock { $0 } }
    }

    /// Looks until the task is cancelled.
    @concurrent func run() async {
        while !Task.isCancelled {
            await look()
            try? await Task.sleep(for: Self.period)
        }
    }

    /// Looks once.
    func look() async {
        do throws(StoreError) {
            let lag = try await store.feedLag()
            seconds.withLock { $0 = lag / .seconds(1) }
        } catch { logger.warning("the lag of the feed is not known", ["cause": .string("\(error)")]) }
    }
}

extension MetricsRegistry {
    /// Shows the lag of the feed, as `readLag` returns it.
    func showFeedLag(_ readLag: @escaping @Sendable () -> Double) {
        gauge(
            "sojourn_feed_lag_seconds",
            help: "Age of the oldest event or revocation that is committed and not readable yet.", reading: readLag)
    }
}
