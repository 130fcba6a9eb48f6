internal import PostgresStore
internal import Telemetry

/// Tries to open a database that is down again, until a time limit.
struct DatabaseWait: Sendable {
    /// The time between two attempts.
    static let pause = Duration.seconds(1)
    /// The time after which the same cause is logged once more.
    private static let reminder = Duration.seconds(10)

    /// For how long it tries again; zero: it does not.
    let limit: Duration
    let logger: Logger
    var now: @Sendable () -> ContinuousClock.Instant = { ContinuousClock.now }
    var sleep: @Sendable (Duration) async -> Void = { try? await Task.sleep(for: $0) }

    /// The outcome of `attempt`, which is made again after an error that may pass. Throws the error of the last attempt; an error
    /// that no waiting mends ends it at once, and `cancelled` when the task is cancelled.
    func run<Value: Sendable>(
        _ attempt: () async throws(StartError) -> Value
    ) async throws(StartError) -> Value {
        let start = now()
        var told: (cause: String, at: ContinuousClock.Instant)?
        while true {
            do throws(StartError) { return try await attempt() } catch {
                let left = limit - (now() - start)
                guard error.mayPass, left > .zero else { throw error }
                let cause = error.description
                if told.map({ $0.cause != cause || now() - $0.at >= Self.reminder }) ?? true {
                    told = (cause, now())
                    logger.warning(
                        "waiting for the database",
                        ["cause": .string(cause), "seconds_left": .int(Int(left.components.seconds))])
                }
                await sleep(min(Self.pause, left))
                if Task.isCancelled { throw .cancelled }
            }
        }
    }
}
