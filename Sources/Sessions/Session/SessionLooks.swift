// Looks of the clean-up at sessions. A session without a recorded end has a time of the next look, at which it may be over;
// the clean-up alone moves it, because an index has it and a refresh must change no index.

/// The sessions at which one step of clean-up looks.
public enum SessionSelection: Hashable, Sendable {
    /// Those with a recorded end until that time, the earliest first.
    case ended(by: Instant)
    /// Those without a recorded end with a look that is due by that time, the longest due first.
    case due(by: Instant)
    /// Every session after that id, tombstones included, in the order of their ids.
    case after(Identifier<Session>)
}

/// A session as one step of clean-up finds it.
public struct SessionLook: Hashable, Sendable {
    /// The session.
    public let session: Session
    /// The time of the look.
    public let lookAt: Instant
    /// By this the store knows whether the row is as it was found.
    public let row: Int64

    /// A look.
    public init(session: Session, lookAt: Instant, row: Int64) {
        (self.session, self.lookAt, self.row) = (session, lookAt, row)
    }
}

/// The time of clean-up.
public struct CleanUpTime: Hashable, Sendable {
    /// The earliest that the time can be, by which sessions end.
    public let earliest: Instant
    /// The time that follows no jump of the clock, by which rows are deleted. Never later than `earliest`.
    public let settled: Instant

    /// A time of clean-up.
    public init(earliest: Instant, settled: Instant) {
        (self.earliest, self.settled) = (earliest, min(settled, earliest))
    }
}

/// The result of one step of clean-up along sessions.
public struct SessionSweep: Hashable, Sendable {
    /// How many sessions it looked at.
    public var looks = 0
    /// How many sessions it deleted.
    public var deleted = 0
    /// How many looks it moved.
    public var moved = 0
    /// The sessions that are over without a record, of which clients are told.
    public var ends: [Identifier<Session>] = []

    /// A step that finds nothing.
    public init() {}

    /// Whether the next step of the same selection finds other sessions.
    public func goesOn(_ limit: Int) -> Bool { looks == limit && (deleted > 0 || moved > 0 || !ends.isEmpty) }
}

extension SessionRecord {
    /// When clean-up first looks at a new or imported session: at the earliest end that the clock can bring.
    var firstLook: Instant {
        if let ending = session.ending { return ending.at }
        return RefreshPolicy.ofSettingsAlone.lifetimes(settings: settings, client: client, user: user).end(of: session)
    }
}

extension SessionOpening {
    /// When clean-up first looks at `session`.
    func firstLook(at session: Session) -> Instant {
        SessionRecord(session: session, user: user, client: client, settings: settings).firstLook
    }
}

extension Lifetimes {
    /// When the session ends if it is not refreshed any more.
    func end(of session: Session) -> Instant { min(idleEnd(of: session), finalEnd(of: session)) }
}

extension RefreshPolicy {
    /// The result of a look at a session.
    enum Look: Hashable {
        /// The row is deleted.
        case forget
        /// The session is over by the clock or by a revocation, and its end has to be recorded.
        case recordEnd
        /// Nothing is due before that time.
        case again(Instant)
        /// Another index finds the row when it is due.
        case leave
    }

    /// The time after which clean-up looks again at a session about which the clock is in doubt.
    static let doubtedLook = Duration.seconds(3600)

    /// What clean-up does with a session. Pure. `isTold` says whether its client is told of its end.
    func look(at record: SessionRecord, _ time: CleanUpTime, isTold: Bool) -> Look {
        // A client is told of an end however late it is found, because the server may have stood still.
        if isTold, record.session.ending == nil, ending(of: record, at: time.earliest) != nil { return .recordEnd }
        if isForgotten(record, at: time.settled) { return .forget }
        if record.session.ending != nil { return .leave }
        let due = endingInstant(of: record, at: time.earliest).map { $0 + Self.tombstoneLifetime }
        let end =
            due
            ?? lifetimes(settings: record.settings, client: record.client, user: record.user)
            .end(of: record.session)
        return .again(end > time.earliest ? end : time.earliest + Self.doubtedLook)
    }
}

extension Store {
    /// One step of clean-up: looks at up to `limit` sessions, deletes those that are forgotten, and moves the looks of the
    /// others. A session that changes meanwhile is left for a later step.
    ///
    /// - Parameter hasReceiver: whether a client is told of the ends of its sessions.
    public func sweepSessions(
        _ selection: SessionSelection, limit: Int, by policy: RefreshPolicy, at time: CleanUpTime,
        _ hasReceiver: @escaping @Sendable (Client) -> Bool
    ) async throws(StoreError) -> SessionSweep {
        guard limit > 0 else { return SessionSweep() }
        return try await write(.nothing) { (transaction) throws(TransactionError) in
            let (looks, catalogue) = (transaction.looks(selection, limit: limit), transaction.catalogue())
            return try transaction.sweep(
                try looks.value(), in: try catalogue.value(), by: policy, at: time, hasReceiver)
        }
    }

    /// One step of the walk along all sessions, which follows a change that ends sessions sooner: moves the looks that come too
    /// late. Returns false if there is no walk, or this was its last step. A step is one transaction with its place, so that
    /// another node goes on where this one stopped.
    public func walkAlongSessions(
        limit: Int, by policy: RefreshPolicy, at time: CleanUpTime,
        _ hasReceiver: @escaping @Sendable (Client) -> Bool
    ) async throws(StoreError) -> Bool {
        guard limit > 0, try await cleanUpState().walkedTo != nil else { return false }
        return try await write(.nothing) { (transaction) throws(TransactionError) in
            var cleanUp = try transaction.cleanUpForUpdate().state()
            guard let place = cleanUp.walkedTo else { return false }
            // The settings are read after the row is locked, so that a change lets the walk go once more or is known to this step.
            let (page, catalogue) = (transaction.looks(.after(place), limit: limit), transaction.catalogue())
            let (looks, known) = (try page.value(), try catalogue.value())
            try transaction.move(looks, in: known, by: policy, at: time, hasReceiver)
            cleanUp.walk(to: looks.last?.session.id, isLastPage: looks.count < limit)
            transaction.write(cleanUp)
            return cleanUp.walkedTo != nil
        }
    }
}

extension StoreTransaction {
    /// What is due about each of the sessions.
    private func decide(
        _ looks: [SessionLook], in catalogue: Catalogue, by policy: RefreshPolicy, at time: CleanUpTime,
        _ hasReceiver: (Client) -> Bool
    ) throws(TransactionError) -> [(look: SessionLook, result: RefreshPolicy.Look)] {
        // The users are read after the sessions, because a change of a user moves the looks at its sessions.
        let users = try users(Array(Set(looks.map(\.session.userID))), named: []).value()
        let byID = Dictionary(users.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
        let records = looks.map { catalogue.record(of: $0.session, byID[$0.session.userID]) }
        let over = records.filter { record in
            record.session.ending == nil && record.client.map(hasReceiver) == true
                && policy.ending(of: record, at: time.earliest) != nil
        }
        let told = over.isEmpty ? [] : try idTokenLogins(of: over.map(\.session.id)).value().map(\.sessionID)
        let isTold = Set(told)
        return zip(looks, records).map { look, record in
            (look, policy.look(at: record, time, isTold: isTold.contains(look.session.id)))
        }
    }

    fileprivate func sweep(
        _ looks: [SessionLook], in catalogue: Catalogue, by policy: RefreshPolicy, at time: CleanUpTime,
        _ hasReceiver: (Client) -> Bool
    ) throws(TransactionError) -> SessionSweep {
        var sweep = SessionSweep()
        sweep.looks = looks.count
        if looks.isEmpty { return sweep }
        var (forgotten, moved): ([SessionLook], [(SessionLook, Instant)]) = ([], [])
        for (look, result) in try decide(looks, in: catalogue, by: policy, at: time, hasReceiver) {
            switch result {
            case .forget: forgotten.append(look)
            case .recordEnd: sweep.ends.append(look.session.id)
            case .again(let next): moved.append((look, next))
            case .leave: break
            }
        }
        sweep.moved = moved.count
        if moved.isEmpty, forgotten.isEmpty { return sweep }
        sweep.deleted = try move(moved, forgetting: forgotten).value()
        return sweep
    }

    /// Moves the looks that come too late. A session with an end that is to be recorded is due at once. A look that is due is moved
    /// too, because a step that knows the lifetimes of before the change may be about to move it.
    fileprivate func move(
        _ looks: [SessionLook], in catalogue: Catalogue, by policy: RefreshPolicy, at time: CleanUpTime,
        _ hasReceiver: (Client) -> Bool
    ) throws(TransactionError) {
        if looks.isEmpty { return }
        let moved = try decide(looks, in: catalogue, by: policy, at: time, hasReceiver).compactMap {
            look, result -> (SessionLook, Instant)? in
            let next: Instant
            switch result {
            case .forget, .recordEnd: next = time.earliest
            case .again(let end): next = end
            case .leave: return nil
            }
            if look.lookAt <= time.earliest { return (look, look.lookAt + .seconds(-1)) }
            return next < look.lookAt ? (look, next) : nil
        }
        if !moved.isEmpty { _ = move(moved, forgetting: []) }
    }
}
