internal import CSQLite
internal import StoreFoundation
internal import Sessions
internal import Locks

/// A write transaction, for a change.
struct Transaction {
    let connection: Connection
    /// The wall clock.
    let clock: WallClock
    /// Settings and clients with the changes of this transaction.
    var catalogue: Catalogue {
        didSet { changesCatalogue = true }
    }
    private(set) var changesCatalogue = false
    /// The beginnings and the ends of sessions that are recorded so far.
    var transitions: [SessionTransition] = []

    init(connection: Connection, clock: WallClock, catalogue: Catalogue) {
        self.connection = connection
        self.clock = clock
        self.catalogue = catalogue
    }
}

/// The only writer: takes all queued changes, runs them in one transaction, commits once for all of them (group commit), and
/// then answers. If the commit fails, all of them are refused.
///
/// **After a failed write or fsync.** The kernel may have marked pages of the log as clean that never reached the disk; a
/// second fsync would not find them (PostgreSQL had that bug). SQLite considers committed what the index of the log in shared
/// memory says, and a failed commit is not in it: the next commit writes the same frames again. But a connection that
/// *recovers* the log from the file, because it is the first to open it, would find the refused frames in the page cache,
/// accept them, and build on frames that a power failure removes. The connection is therefore reopened while the readers'
/// connections keep that index, and before any other change runs, a full checkpoint must copy everything acknowledged into the
/// database, sync it, and truncate the log. It writes every page again, because a page is not reliable after its sync failed.
/// Until it succeeds, the store refuses changes. For the same reason a start after a crash begins with such a checkpoint.
final class Writer: Sendable {
    /// The state that the writer's thread owns.
    private struct State {
        /// Nil after the store was closed.
        var connection: Connection?
        var mustRepair = false
        var plan: CheckpointPlan
        var growth: LogGrowth
    }

    private let state: Locked<State>
    private let published: PublishedCatalogue
    private let damage: Damage
    private let options: SQLiteStore.Options
    private let open: @Sendable () throws(DatabaseError) -> Connection
    private let sync: DatabaseSync

    /// A writer with an opened connection and an empty log.
    init(
        published: PublishedCatalogue, damage: Damage, options: SQLiteStore.Options, writeback: Writeback,
        connection: sending Connection, reopen: @escaping @Sendable () throws(DatabaseError) -> Connection,
        openReader: @escaping @Sendable () throws(DatabaseError) -> Connection
    ) {
        state = Locked(
            State(
                connection: connection,
                plan: CheckpointPlan(pagesMax: options.checkpointFrames, inPieces: options.checkpointsInPieces),
                growth: LogGrowth(limit: options.logWarningBytes)))
        self.published = published
        self.damage = damage
        self.options = options
        open = reopen
        sync = DatabaseSync(writeback: writeback, open: openReader, now: options.now) {
            damage.noteLostPages($0, options.observer)
        }
    }

    /// Runs `batch` and answers every one of its changes.
    func process(_ batch: [PendingChange]) {
        let answers = state.withLock { state in commit(batch, &state) }
        for answer in answers { answer.change.end(answer.refusal) }
        state.withLock { state in checkpointIfDue(&state) }
    }

    /// Copies the log into the database, so that the next start finds none, and closes the connection. No batch may follow.
    func finish() {
        state.withLock { state in
            guard let connection = state.connection.take() else { return }
            sync.reset()
            if damage.refusal != nil {
                // The content of the log is kept.
                connection.keepLogWhenClosed()
                return
            }
            do throws(DatabaseError) {
                try Self.copyWholeLog(connection)
            } catch {
                // The log is kept, and the next start copies it.
                options.observer.failed(error.description)
            }
        }
    }

    private static func connection(of state: State) throws(DatabaseError) -> Connection {
        guard let connection = state.connection else {
            throw .sqlite(code: SQLITE_ABORT, message: "the database is closed")
        }
        return connection
    }

    /// The answer to a waiting caller.
    private struct Answer {
        let change: PendingChange
        let refusal: StoreError?
    }

    private func commit(_ batch: [PendingChange], _ state: inout State) -> [Answer] {
        let start = options.now()
        if let refusal = damage.refusal {
            observeRefusal(of: batch.count, since: start)
            return Self.refused(batch, refusal)
        }
        if state.mustRepair {
            do throws(DatabaseError) {
                try repair(&state)
            } catch {
                observeRefusal(of: batch.count, since: start)
                return refuse(batch, error, &state)
            }
        }
        var refused: [Answer] = []
        var remaining = batch
        while true {
            do throws(DatabaseError) {
                let connection = try Self.connection(of: state)
                switch try attempt(remaining, in: connection, start: start) {
                case .committed(let answers, let duration):
                    if let duration { state.plan.committed(pages: connection.takePagesWritten(), in: duration) }
                    return refused + answers
                case .mustLeaveOut(let index, let error):
                    // The change wrote rows before it failed. The others run again without it, because changes are pure.
                    let change = remaining.remove(at: index)
                    try rollBack(connection)
                    options.observer.failed(error.description)
                    refused.append(Answer(change: change, refusal: error.storeError))
                }
            } catch {
                observeRefusal(of: remaining.count, since: start)
                return refused + refuse(remaining, error, &state)
            }
        }
    }

    private func observeRefusal(of changes: Int, since start: ContinuousClock.Instant) {
        options.observer.batchEnded(
            Observer.Batch(
                changes: changes, wrote: true, duration: options.now() - start, commitDuration: .zero,
                isCommitted: false))
    }

    private enum Attempt {
        /// The duration is that of the commit; nil if there was nothing to write.
        case committed([Answer], in: Duration?)
        case mustLeaveOut(Int, DatabaseError)
    }

    /// Runs `changes` in one transaction and commits it. Throws an error that concerns all of them.
    private func attempt(
        _ changes: [PendingChange], in connection: Connection, start: ContinuousClock.Instant
    ) throws(DatabaseError) -> Attempt {
        var answers: [Answer] = []
        answers.reserveCapacity(changes.count)
        try connection.execute(Self.begin)
        let changesBefore = connection.totalChanges
        var transaction = Transaction(connection: connection, clock: options.clock, catalogue: published.current)
        for (index, change) in changes.enumerated() {
            var refusal: StoreError?
            let changesBeforeThis = connection.totalChanges
            if options.now() - change.waitingSince > options.decisionDeadline {
                refusal = .unavailable("waited longer than the deadline for the writer")
            } else {
                do throws(DatabaseError) {
                    try change.run(in: &transaction)
                } catch {
                    guard error.consequence == .failsChange else { throw error }
                    guard connection.totalChanges == changesBeforeThis else { return .mustLeaveOut(index, error) }
                    options.observer.failed(error.description)
                    refusal = error.storeError
                }
            }
            answers.append(Answer(change: change, refusal: refusal))
        }
        for answer in answers where answer.refusal == nil { answer.change.decide() }
        let wrote = connection.totalChanges != changesBefore
        let commitStart = options.now()
        if transaction.changesCatalogue {
            try published.committing(transaction.catalogue) { () throws(DatabaseError) in
                try connection.execute(Self.commit)
            }
        } else {
            try connection.execute(Self.commit)
        }
        let end = options.now()
        options.observer.batchEnded(
            Observer.Batch(
                changes: changes.count, wrote: wrote, duration: end - start, commitDuration: end - commitStart,
                isCommitted: true, transitions: transaction.transitions))
        return .committed(answers, in: wrote ? end - commitStart : nil)
    }

    /// Refuses all changes of `batch` after `error`.
    private func refuse(_ batch: [PendingChange], _ error: DatabaseError, _ state: inout State) -> [Answer] {
        options.observer.failed(error.description)
        damage.note(error, options.observer)
        var refusal = error.storeError
        do throws(DatabaseError) {
            try rollBack(state.connection)
        } catch {
            state.mustRepair = true
        }
        switch error.consequence {
        case .distrustsConnection: state.mustRepair = true
        case .failsBatch, .stopsStore: break
        case .failsChange:
            // BEGIN or COMMIT itself failed, so the connection is in a state that should not exist.
            state.mustRepair = true
            refusal = .unavailable(error.description)
        }
        return Self.refused(batch, refusal)
    }

    private static func refused(_ batch: [PendingChange], _ refusal: StoreError) -> [Answer] {
        batch.map { Answer(change: $0, refusal: refusal) }
    }

    private func rollBack(_ connection: Connection?) throws(DatabaseError) {
        if let connection, connection.isInTransaction { try connection.execute(Self.rollback) }
    }

    /// Repairs the database after a failed write, or throws.
    private func repair(_ state: inout State) throws(DatabaseError) {
        sync.reset()
        let connection = try open()
        state.connection = connection
        do throws(DatabaseError) {
            try Self.copyWholeLog(connection)
        } catch {
            if state.plan.isCopiedInPart, error.consequence == .distrustsConnection {
                damage.noteLostPages(error, options.observer)
            }
            throw error
        }
        state.plan.allCopied()
        state.mustRepair = false
    }

    /// Copies everything committed into the database, syncs it and truncates the log.
    static func copyWholeLog(_ connection: Connection) throws(DatabaseError) {
        let checkpoint = try connection.checkpoint(SQLITE_CHECKPOINT_TRUNCATE)
        guard checkpoint.framesInLog <= checkpoint.framesCopied else {
            throw .sqlite(code: SQLITE_BUSY, message: "a reader holds the write-ahead log")
        }
    }

    /// Copies as much of a long log as the readers allow. Runs between batches, after callers have received their answers.
    private func checkpointIfDue(_ state: inout State) {
        guard !state.mustRepair, damage.refusal == nil, let connection = state.connection else { return }
        if let duration = sync.takeEnded() { state.plan.synced(in: duration) }
        let start = options.now()
        do throws(DatabaseError) {
            switch state.plan.next {
            case .nothing: return
            case .hold where hold(): return state.plan.held()
            case .hold, .copyAll:
                let left = try copyLog(connection, &state.growth)
                state.plan.copiedAll(left: left, in: options.now() - start)
            case .copyHeld:
                let left = try copyLog(connection, &state.growth)
                sync.begin(pages: state.plan.copiedHeld(left: left, in: options.now() - start))
            }
            options.observer.checkpointEnded(options.now() - start)
        } catch {
            options.observer.failed(error.description)
            options.observer.checkpointEnded(options.now() - start)
            switch error.consequence {
            case .stopsStore: damage.note(error, options.observer)
            case .failsBatch:
                sync.reset()
                state.plan.failed()
            case .distrustsConnection where state.plan.isCopiedInPart: damage.noteLostPages(error, options.observer)
            case .distrustsConnection, .failsChange: state.mustRepair = true
            }
        }
    }

    /// Copies as much of the log as the readers allow. Returns the number of remaining pages.
    private func copyLog(_ connection: Connection, _ growth: inout LogGrowth) throws(DatabaseError) -> Int {
        let checkpoint = try connection.checkpoint(SQLITE_CHECKPOINT_PASSIVE)
        let left = checkpoint.framesInLog - checkpoint.framesCopied
        if let bytes = growth.noted(frames: checkpoint.framesInLog, left: left) { options.observer.logGrew(bytes) }
        return left
    }

    /// Holds the state of the last commit. False if that fails; then the whole log is to be copied at once.
    private func hold() -> Bool {
        do throws(DatabaseError) {
            try sync.hold()
            return true
        } catch {
            options.observer.failed(error.description)
            sync.reset()
            return false
        }
    }

    private static let begin = Query("BEGIN IMMEDIATE")
    private static let commit = Query("COMMIT")
    private static let rollback = Query("ROLLBACK")
}
