// The clean-up: which node does it, and where its walk along all sessions is.

/// The right of one node to do what only one node does at a time. It ends by time, so that a node that is gone or suspended
/// keeps no other from it.
public struct Lease: Hashable, Sendable {
    /// The longest lease. A longer one in the store comes from a node with a fast clock, which may be gone, and is ignored.
    private static let longest = Duration.seconds(600)

    /// The node; empty before the first one.
    public var holder: String
    /// The end of the lease.
    public var heldUntil: Instant

    /// A lease of `holder`.
    public init(holder: String, heldUntil: Instant) { (self.holder, self.heldUntil) = (holder, heldUntil) }

    /// Whether another node than `node` holds the lease at `now`.
    public func isHeldByOther(than node: String, at now: Instant) -> Bool {
        holder != node && now < heldUntil && heldUntil <= now + Self.longest
    }

    /// Gives the lease to `node` for `duration` from `now` on, unless another node holds it. Returns whether `node` holds it.
    public mutating func take(by node: String, at now: Instant, for duration: Duration) -> Bool {
        if isHeldByOther(than: node, at: now) { return false }
        // The lease is renewed only after half of it, because one write for each look would cost too much.
        let isLong = heldUntil >= now + duration / 2 && heldUntil <= now + Self.longest
        if holder != node || !isLong { (holder, heldUntil) = (node, now + duration) }
        return true
    }

    /// Ends the lease of `node`, so that another node need not wait for its end.
    public mutating func leave(_ node: String, at now: Instant) {
        if holder == node { heldUntil = now }
    }
}

/// The state of the clean-up, which all nodes share.
public struct CleanUp: Hashable, Sendable {
    /// The node that cleans up.
    public var lease: Lease
    /// The last session of the walk along all sessions; nil: there is no walk.
    public var walkedTo: Identifier<Session>?
    /// The place of the walk at the last change meanwhile, to which it goes once more; nil: nothing has changed.
    public var walkEnd: Identifier<Session>?
    /// The last anonymous user that clean-up has read; nil: the next one is the first.
    public var usersReadTo: Identifier<User>?

    /// A state without a walk.
    public init(lease: Lease) { self.lease = lease }

    /// Moves the walk along a page to `last`; `isLastPage` at the last session of all. After a change the walk goes on from the
    /// first session, so that it has met every session since, and no number of changes keeps it from the last ones.
    mutating func walk(to last: Identifier<Session>?, isLastPage: Bool) {
        guard let place = walkedTo else { return }
        let first = Identifier<Session>(words: (high: 0, low: 0))
        let end = walkEnd ?? first
        let hasTurned = place.words < end.words
        if !isLastPage, let last, !hasTurned || last.words < end.words {
            walkedTo = last
        } else if hasTurned || end == first {
            (walkedTo, walkEnd) = (nil, nil)
        } else {
            walkedTo = first
        }
    }
}

/// The request about the clean-up.
public protocol CleanUpReader {
    /// The state of the clean-up.
    func cleanUp() -> Answer<CleanUp?>
}

/// The requests and writes about the clean-up inside a transaction.
public protocol CleanUpTransaction: CleanUpReader {
    /// The state of the clean-up, for update.
    func cleanUpForUpdate() -> Answer<CleanUp?>

    /// Writes the state of the clean-up.
    func write(_ cleanUp: CleanUp)

    /// Lets the clean-up walk along all sessions, from the first one on, or from the place of its walk and around.
    func walkAlongSessions()

    /// Lets the clean-up look at the sessions of a user without a recorded end at `instant` at the latest. Changes the times of looks
    /// that are due too, so that a step which has found them moves none.
    func lookAtSessions(of userID: Identifier<User>, by instant: Instant)
}

extension Answer<CleanUp?> {
    /// The state, which is one row in every database.
    func state() throws(TransactionError) -> CleanUp {
        guard let state = try value() else { throw .corrupted("the state of the clean-up is missing") }
        return state
    }
}

extension Store {
    /// Gives the lease of the clean-up to `node`, or renews it, unless another node holds it. Returns the end of the lease; nil
    /// if another node holds it, which one read finds out.
    public func takeCleanUp(by node: String, at now: Instant, for duration: Duration) async throws(StoreError)
        -> Instant?
    {
        if try await cleanUpState().lease.isHeldByOther(than: node, at: now) { return nil }
        return try await changeCleanUp { $0.lease.take(by: node, at: now, for: duration) ? $0.lease.heldUntil : nil }
    }

    /// Ends the lease of the clean-up, if `node` holds it.
    public func leaveCleanUp(by node: String, at now: Instant) async throws(StoreError) {
        try await changeCleanUp { $0.lease.leave(node, at: now) }
    }

    /// Reads which node cleans up, and how far the work has come.
    func cleanUpState() async throws(StoreError) -> CleanUp {
        try await read(.short) { (reader) throws(TransactionError) in try reader.cleanUp().state() }
    }

    /// Lets `change` edit the state of the clean-up.
    func changeCleanUp<Outcome: Sendable>(
        _ change: @escaping @Sendable (inout CleanUp) -> Outcome
    ) async throws(StoreError) -> Outcome {
        try await write(.nothing) { (transaction) throws(TransactionError) in
            var cleanUp = try transaction.cleanUpForUpdate().state()
            let old = cleanUp
            let outcome = change(&cleanUp)
            if cleanUp != old { transaction.write(cleanUp) }
            return outcome
        }
    }
}

extension StoreTransaction {
    /// Lets the clean-up look earlier at the sessions that end sooner under `new` than under `old`.
    func lookEarlier(under new: Catalogue, than old: Catalogue) {
        if new.endsSessionsSooner(than: old) { walkAlongSessions() }
    }

    /// Lets the clean-up look earlier at the sessions of a user with a shorter maximum of its own.
    func lookEarlier(under new: User, than old: User) {
        guard let own = new.offlineSessionMax?.ifPositive else { return }
        if let before = old.offlineSessionMax?.ifPositive, before <= own { return }
        lookAtSessions(of: new.id, by: now)
    }
}

extension Catalogue {
    /// Whether some session ends sooner than under `old`, or its end is told sooner. A session of a client that is gone has the
    /// lifetimes of the settings. The ends of a client's sessions are recorded from its receiver on.
    func endsSessionsSooner(than old: Catalogue) -> Bool {
        if settings.revokedBefore != old.settings.revokedBefore { return true }
        func endsSooner(_ client: Client?, than before: Client?) -> Bool {
            let policy = RefreshPolicy.ofSettingsAlone
            return policy.lifetimes(settings: settings, client: client, user: nil)
                .endsBefore(policy.lifetimes(settings: old.settings, client: before, user: nil))
        }
        if endsSooner(nil, than: nil) { return true }
        return old.clients.values.contains { before in
            guard let client = clients[before.id] else { return endsSooner(nil, than: before) }
            if client.epoch != before.epoch { return true }
            if client.page.backchannelLogoutURI != nil, before.page.backchannelLogoutURI == nil { return true }
            return endsSooner(client, than: before)
        }
    }
}
