internal import Sessions

/// The time limit of a decision, as a deadline and as the remaining duration.
struct TimeLimit: Sendable {
    let deadline: ContinuousClock.Instant
    let left: Duration
}

/// Work that needs a connection of its own for some time.
struct PendingWork: Sendable {
    let waitingSince: ContinuousClock.Instant
    /// Does the work and returns a closure that delivers the outcome. It may run again.
    let run: @Sendable (Connection, TimeLimit) throws(DatabaseError) -> @Sendable () -> Void
    /// Reports an error to the caller.
    let refuse: @Sendable (StoreError) -> Void
}

/// Processes work one item after the other on one connection.
final class Worker: Sendable {
    private let lane: ReconnectingConnection
    private let options: PostgresStore.Options

    init(lane: ReconnectingConnection, options: PostgresStore.Options) {
        self.lane = lane
        self.options = options
    }

    /// Answers all of `batch`.
    func process(_ batch: [PendingWork]) { for work in batch { answer(to: work)() } }

    /// The largest number of attempts that end because a unique value is taken.
    private static let takenMax = 3

    /// Does the work, and returns a closure that delivers the outcome or an error.
    func answer(to work: PendingWork) -> @Sendable () -> Void {
        let deadline = work.waitingSince + options.decisionDeadline
        var takenCount = 0
        while true {
            guard options.now() < deadline else {
                return { work.refuse(.unavailable("waited longer than the deadline for the database")) }
            }
            do throws(DatabaseError) {
                return try lane.withConnection(until: deadline) { (connection) throws(DatabaseError) in
                    // Making the connection may have used some of the time.
                    try work.run(connection, TimeLimit(deadline: deadline, left: deadline - options.now()))
                }
            } catch {
                // A transaction that another one has overtaken is not a failure.
                if error != .overtaken { options.observer.failed(error.description) }
                // The next attempt finds a value that another transaction has taken. One that stays taken is damage.
                if error.isUniqueViolation { takenCount += 1 }
                if takenCount > Self.takenMax { return { work.refuse(.corrupted(error.description)) } }
                if error.consequence == .mayRepeat { continue }
                return { work.refuse(error.storeError) }
            }
        }
    }
}
