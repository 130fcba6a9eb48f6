internal import CSQLite
internal import Dispatch
internal import Locks

/// Copies the log into the database on a thread and a connection of its own, while the writer goes on.
///
/// There is one pass at a time, the writer itself copies nothing meanwhile, and a pass begins only when the log holds
/// something that is not copied: so the log cannot begin anew while one runs.
final class CheckpointPass: Sendable {
    /// What a pass came to.
    struct Outcome: Sendable {
        let result: Result<Connection.Checkpoint, DatabaseError>
        let duration: Duration
    }

    private enum Status {
        case idle
        case running
        case ended(Outcome)
    }

    private let status = Locked(Status.idle)
    private let connection = Locked<Connection?>(nil)
    private let queue = DispatchQueue(label: "sojourn.checkpoint")
    private let now: @Sendable () -> ContinuousClock.Instant
    private let open: @Sendable () throws(DatabaseError) -> Connection

    init(
        now: @escaping @Sendable () -> ContinuousClock.Instant,
        open: @escaping @Sendable () throws(DatabaseError) -> Connection
    ) {
        self.now = now
        self.open = open
    }

    /// Whether a pass runs.
    var isRunning: Bool { status.withLock { if case .running = $0 { true } else { false } } }

    /// What the last pass came to, once.
    func takeOutcome() -> Outcome? {
        status.withLock { status in
            guard case .ended(let outcome) = status else { return nil }
            status = .idle
            return outcome
        }
    }

    /// Begins a pass. None runs.
    func begin() {
        status.withLock { $0 = .running }
        queue.async { [self] in
            let start = now()
            let result = copy()
            let outcome = Outcome(result: result, duration: now() - start)
            status.withLock { $0 = .ended(outcome) }
        }
    }

    /// Waits until no pass runs, and closes the connection.
    func finish() {
        queue.sync {}
        connection.withLock { $0 = nil }
    }

    private func copy() -> Result<Connection.Checkpoint, DatabaseError> {
        connection.withLock { kept in
            do throws(DatabaseError) {
                let connection = if let kept { kept } else { try open() }
                kept = connection
                return .success(try connection.checkpoint(SQLITE_CHECKPOINT_PASSIVE))
            } catch {
                // What a connection believes after an error of the disk is not relied on.
                kept = nil
                return .failure(error)
            }
        }
    }
}
