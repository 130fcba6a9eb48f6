internal import Sessions

/// When something has to be decided.
struct TimeLimit: Sendable {
    let deadline: ContinuousClock.Instant
    let left: Duration
}

/// Something that has a connection to itself for a while.
struct PendingWork: Sendable {
    let waitingSince: ContinuousClock.Instant
    /// Does it and gives what delivers the outcome. It may be run again.
    let run: @Sendable (Connection, TimeLimit) throws(DatabaseError) -> @Sendable () -> Void
    /// Tells the caller that there is no answer.
    let refuse: @Sendable (StoreError) -> Void
}

/// Does one thing after the other on one connection.
final class Worker: Sendable {
    private let lane: ReconnectingConnection
    private let options: PostgresStore.Options

    init(lane: ReconnectingConnection, options: PostgresStore.Options) {
        self.lane = lane
        self.options = options
    }

    /// Answers all of `batch`.
    func process(_ batch: [PendingWork]) { for work in batch { process(work) } }

    private func process(_ work: PendingWork) {
        let deadline = work.waitingSince + options.decisionDeadline
        while true {
            guard options.now() < deadline else {
                return work.refuse(.unavailable("waited longer than the deadline for the database"))
            }
            do throws(DatabaseError) {
                let answer = try lane.withConnection(until: deadline) { (connection) throws(DatabaseError) in
                    // Making the connection may have taken some of it.
                    try work.run(connection, TimeLimit(deadline: deadline, left: deadline - options.now()))
                }
                return answer()
            } catch {
                // A transaction that another one overtook is in order.
                if error != .overtaken { options.observer.failed(error.description) }
                if error.consequence == .mayRepeat { continue }
                return work.refuse(error.storeError)
            }
        }
    }
}
