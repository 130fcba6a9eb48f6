internal import Sessions
internal import StoreFoundation

/// A change of one session in the queue.
struct PendingSessionChange: Sendable {
    let id: Identifier<Session>
    let waitingSince: ContinuousClock.Instant
    /// Runs the change and returns a closure that delivers its outcome. Pure, because it may run again.
    let run: @Sendable (inout SessionChange) -> @Sendable () -> Void
    /// Reports to the caller that there is no such session.
    let notFound: @Sendable () -> Void
    /// Reports an error to the caller.
    let refuse: @Sendable (StoreError) -> Void
}

/// Decides and writes many changes of sessions in two round trips. The first reads their sessions, their users and the revision
/// of the catalogue. All changes are then decided in memory, one after the other for each session. The second round trip writes
/// the differences by compare-and-swap in one transaction. A session that another transaction has changed in between is decided
/// again.
final class SessionBatch: Sendable {
    private let lane: ReconnectingConnection
    private let cache: CatalogueCache
    private let time: DatabaseClock
    private let options: PostgresStore.Options

    init(
        lane: ReconnectingConnection, cache: CatalogueCache, time: DatabaseClock, options: PostgresStore.Options
    ) {
        self.lane = lane
        self.cache = cache
        self.time = time
        self.options = options
    }

    /// Answers every change of `batch`.
    func process(_ batch: [PendingSessionChange]) {
        let start = options.now()
        var remaining = batch
        while !remaining.isEmpty {
            let inTime = remaining.filter { !isLate($0) }
            for change in remaining where isLate(change) {
                change.refuse(.unavailable("waited longer than the deadline for the database"))
            }
            remaining = inTime
            guard let deadline = remaining.map({ $0.waitingSince + options.decisionDeadline }).min() else { return }
            do throws(DatabaseError) {
                let (answers, conflicts) = try lane.withConnection(until: deadline) {
                    (connection) throws(DatabaseError) in
                    try attempt(remaining, on: connection, until: deadline)
                }
                options.observer.committed()
                for answer in answers { answer() }
                remaining = conflicts
            } catch {
                options.observer.failed(error.description)
                if error.consequence == .mayRepeat, !error.isUniqueViolation { continue }
                if error.isOutOfMemory, remaining.count > 1 {
                    // A smaller batch needs fewer locks at the server.
                    let half = remaining.count / 2
                    for part in [remaining.prefix(half), remaining.dropFirst(half)] { process(Array(part)) }
                    return
                }
                for change in remaining { change.refuse(error.storeError) }
                return
            }
        }
        options.observer.batchEnded(batch.count, options.now() - start)
    }

    private func isLate(_ change: PendingSessionChange) -> Bool {
        options.now() - change.waitingSince > options.decisionDeadline
    }

    private typealias Answer = @Sendable () -> Void

    /// The longest time from the moment at which a request reads the clock until it waits in a queue.
    private static let preparationMax = Duration.milliseconds(100)

    /// Refuses every change that has read the time before the last large correction, and returns the others; nil if there is no
    /// such change. A token is not spent by a decision at a wrong time.
    private func refuseMistimed(_ changes: [PendingSessionChange]) -> [PendingSessionChange]? {
        guard options.followsDatabaseClock, let leap = time.lastLeap else { return nil }
        let rest = changes.filter { $0.waitingSince - Self.preparationMax > leap }
        if rest.count == changes.count { return nil }
        for change in changes where change.waitingSince - Self.preparationMax <= leap {
            change.refuse(.unavailable("the database's clock was set, or another server answers"))
        }
        return rest
    }

    /// The result of the first round trip.
    private struct Snapshot {
        let sessions: [SessionSQL.Stored]
        /// The index of each session in `sessions`.
        let places: [Identifier<Session>: Int]
        let catalogue: CatalogueCache.Entry
        /// The time until which a decision is valid, by the server's clock, in microseconds since 1970.
        let end: Int64
    }

    private func attempt(
        _ changes: [PendingSessionChange], on connection: Connection, until deadline: ContinuousClock.Instant
    ) throws(DatabaseError) -> ([Answer], conflicts: [PendingSessionChange]) {
        let snapshot = try read(changes, on: connection, until: deadline)
        if let rest = refuseMistimed(changes) { return ([], conflicts: rest) }
        let decided = try decide(changes, in: snapshot)
        let conflicting = try write(decided.writes, in: snapshot, on: connection, until: deadline, decided.written)
        var answers: [Answer] = []
        var conflicts: [PendingSessionChange] = []
        let recorded = decided.events.filter { !conflicting.contains($0.id) }.map(\.event)
        if !recorded.isEmpty { options.observer.recorded(recorded) }
        for (change, answer) in zip(changes, decided.answers) {
            if conflicting.contains(change.id) { conflicts.append(change) } else { answers.append(answer) }
        }
        return (answers, conflicts)
    }

    private func read(
        _ changes: [PendingSessionChange], on connection: Connection, until deadline: ContinuousClock.Instant
    ) throws(DatabaseError) -> Snapshot {
        var ids = ArrayParameter(of: .uuid)
        for id in Set(changes.map(\.id)) { ids.append(id) }
        let before = options.now()
        let rows = try connection.read([CatalogueCache.revisionAndTime, SessionSQL.select(ids)], until: deadline)
        let present = try rows[0].first { row in
            row.skip(1)
            return row.integer()
        }
        guard let present else { throw .contradiction("the catalogue has no revision") }
        time.note(present, between: before, and: options.now())
        let sessions = try rows[1].map { (row) throws(CorruptRow) in try SessionSQL.readStored(&row) }
        return Snapshot(
            sessions: sessions,
            places: Dictionary(
                zip(sessions.lazy.map(\.session.id), sessions.indices), uniquingKeysWith: { first, _ in first }),
            catalogue: try cache.current(rows[0], on: connection, until: deadline),
            end: present + (deadline - before).microseconds)
    }

    /// The decisions of a batch.
    private struct Decided {
        var answers: [Answer] = []
        var writes = SessionWrites()
        /// The sessions that are written.
        var written: Set<Identifier<Session>> = []
        /// The events that are recorded, with their sessions.
        var events: [(id: Identifier<Session>, event: AuditEvent)] = []
    }

    private func decide(
        _ changes: [PendingSessionChange], in snapshot: Snapshot
    ) throws(DatabaseError) -> Decided {
        var decided = Decided()
        decided.answers.reserveCapacity(changes.count)
        // Several changes of one session run in order, each on the result of the one before.
        var edits = snapshot.sessions.map { stored in
            SessionChange(snapshot.catalogue.catalogue.record(of: stored.session, stored.user))
        }
        for change in changes {
            if let place = snapshot.places[change.id] {
                decided.answers.append(change.run(&edits[place]))
            } else {
                decided.answers.append(change.notFound)
            }
        }
        // Writes in the order of ids, as every other node does, so that two nodes cannot deadlock.
        for place in edits.indices.sorted(by: { edits[$0].session.id.words < edits[$1].session.id.words }) {
            let stored = snapshot.sessions[place]
            if edits[place].session == stored.session, edits[place].events.isEmpty { continue }
            let events = edits[place].events.map { event in
                (event, snapshot.catalogue.catalogue.revocation(of: event, at: options.clock.now))
            }
            decided.writes.add(edits[place].session, events, over: stored)
            decided.written.insert(stored.session.id)
            for event in edits[place].events { decided.events.append((stored.session.id, event)) }
        }
        return decided
    }

    /// Writes, and returns the sessions that were not written, because something has changed since they were read.
    private func write(
        _ writes: SessionWrites, in snapshot: Snapshot, on connection: Connection,
        until deadline: ContinuousClock.Instant, _ written: Set<Identifier<Session>>
    ) throws(DatabaseError) -> Set<Identifier<Session>> {
        if writes.isEmpty { return [] }
        let beginning =
            [Transaction.timeLimit(deadline - options.now()), writes.sharingUsers] + writes.locks
        let statements = writes.statements(catalogue: snapshot.catalogue.revision, before: snapshot.end)
        let rows = try connection.run(beginning + statements, commits: true, until: deadline)
        var conflicting = written
        for answer in rows.dropFirst(beginning.count) {
            let ids = try answer.map { (row) throws(CorruptRow) -> Identifier<Session> in try row.identifier() }
            conflicting.subtract(ids)
        }
        return conflicting
    }
}

extension Duration {
    /// The duration in whole microseconds, rounded towards zero.
    var microseconds: Int64 {
        let (seconds, attoseconds) = components
        return seconds * 1_000_000 + attoseconds / 1_000_000_000_000
    }
}
