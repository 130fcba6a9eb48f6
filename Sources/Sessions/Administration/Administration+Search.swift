/// Looking for something of which an admin knows a part.
extension Administration {
    /// The user with that username, or with that address as username or verified address; nil if there is none, or several.
    public func user(called name: String) async throws(ServiceError) -> User? {
        guard Text.isValid(name, lengthMax: User.usernameLengthMax) else { return nil }
        return try await inStore(
            await store.read(.short) { (reader) throws(TransactionError) in try reader.user(called: name) })
    }

    /// Up to `limit` users with that telephone number, sorted by username, found by an index.
    public func users(withPhoneNumber number: String, limit: Int) async throws(ServiceError) -> [User] {
        try await inStore(await store.users(withPhoneNumber: number, limit: limit))
    }

    /// The login on the server's page with that id; nil if there is none.
    public func login(_ id: Identifier<Session>) async throws(ServiceError) -> PageLogin? {
        try await inStore(await store.login(id))
    }

    /// The admin key with that id; nil if there is none, or if it has expired.
    public func adminKey(withID id: String) async throws(ServiceError) -> AdminKey? {
        let now = context.clock.now
        return try await adminKeys().first { $0.id == id && ($0.expiresAt.map { now < $0 } ?? true) }
    }

    /// A page of the trail: the newest events before number `cursor`, nil begins with the last one, and the names of their users,
    /// unless `isNamed` is false: an export shows none.
    public func trail(
        before cursor: Int64?, limit: Int, isNamed: Bool = true
    ) async throws(ServiceError) -> Trail {
        try await inStore(
            await store.read(.page) { (reader) throws(TransactionError) in
                let events = try reader.events(before: cursor ?? .max, limit: limit).value()
                return Trail(
                    events: events, names: isNamed ? try reader.usernames(of: events) : [:],
                    next: events.count < limit ? nil : events.last?.id)
            })
    }

    /// The newest events before number `cursor`; nil begins with the last one.
    public func events(before cursor: Int64?, limit: Int) async throws(ServiceError) -> [RecordedEvent] {
        try await inStore(await store.events(before: cursor, limit: limit))
    }

    /// How far the clocks of two nodes may differ, so that events are not quite in the order of their times.
    private static let clockDifference = Duration.seconds(300)

    /// A cursor for the events before a time, by a few reads: no event behind it is of an earlier time. Nil: the newest event.
    public func eventCursor(before instant: Instant) async throws(ServiceError) -> Int64? {
        let late = instant + Self.clockDifference
        guard let newest = try await events(before: nil, limit: 1).first, newest.event.at >= late else { return nil }
        var (low, high) = (Int64(0), newest.id)
        while high - low > 1 {
            let middle = low + (high - low) / 2
            if let event = try await events(before: middle + 1, limit: 1).first, event.event.at >= late {
                high = event.id
            } else {
                low = middle
            }
        }
        return high
    }

    /// The events that one step of a search reads.
    public static let readsMax = 20_000

    /// One step of a search through the audit trail, from the newest event to the oldest. It reads at most `reads` events, so
    /// that no search takes long.
    ///
    /// - Parameters:
    ///   - userID: the user of all events, which are read by the index of users; nil: the events of every user.
    ///   - since: the time before which nothing is looked for, so that the search ends there.
    ///   - isNamed: whether the names of the users are read too.
    /// - Returns: up to `limit` events that match, and where the search goes on.
    public func searchEvents(
        ofUser userID: Identifier<User>? = nil, before cursor: Int64?, since: Instant? = nil, limit: Int,
        reads: Int = Administration.readsMax, isNamed: Bool = true,
        matching isMatch: (AuditEvent) -> Bool
    ) async throws(ServiceError) -> Trail {
        let (found, next) = try await search(ofUser: userID, cursor, since, limit, reads, isMatch)
        guard isNamed else { return Trail(events: found, names: [:], next: next) }
        return try await inStore(
            await store.read(.short) { (reader) throws(TransactionError) in
                Trail(events: found, names: try reader.usernames(of: found), next: next)
            })
    }

    private func search(
        ofUser userID: Identifier<User>?, _ cursor: Int64?, _ since: Instant?, _ limit: Int, _ reads: Int,
        _ isMatch: (AuditEvent) -> Bool
    ) async throws(ServiceError) -> (events: [RecordedEvent], next: Int64?) {
        var (found, cursor, left) = ([RecordedEvent](), cursor, reads)
        while left > 0 {
            let step = min(left, userID == nil ? 1000 : 200)
            let events =
                if let userID {
                    try await inStore(await store.events(ofUser: userID, before: cursor, limit: step))
                } else {
                    try await inStore(await store.events(before: cursor, limit: step))
                }
            for event in events {
                if let since, event.event.at + Self.clockDifference < since { return (found, nil) }
                cursor = event.id
                if isMatch(event.event) { found.append(event) }
                if found.count == limit { return (found, cursor) }
            }
            if events.count < step { return (found, nil) }
            left -= step
        }
        return (found, cursor)
    }
}

/// The usernames of users, by id. A user that was deleted has none.
public typealias Usernames = [Identifier<User>: String]

extension Usernames {
    init(of users: [User]) { self.init(users.map { ($0.id, $0.username) }) { first, _ in first } }
}

/// A page of the audit trail.
public struct Trail: Sendable {
    /// The events, the newest first.
    public let events: [RecordedEvent]
    /// The names of their users.
    public let names: Usernames
    /// The cursor from which the trail goes on; nil: it ends here.
    public let next: Int64?
}

extension StoreReader {
    /// The names of the users of events.
    func usernames(of events: [RecordedEvent]) throws(TransactionError) -> Usernames {
        let ids = Set(events.compactMap(\.event.userID))
        return ids.isEmpty ? [:] : Usernames(of: try users(Array(ids), named: []).value())
    }

    /// The user with that id, with that username, or with that address as username or verified address; nil if there is none, or
    /// several.
    func user(meantBy text: String) throws(TransactionError) -> User? {
        if let id = Identifier<User>(text), let user = try user(.id(id)).value() { return user }
        return Text.isValid(text, lengthMax: User.usernameLengthMax) ? try user(called: text) : nil
    }

    /// The user with that username, or with that address as username or verified address; nil if there is none, or several.
    func user(called name: String) throws(TransactionError) -> User? {
        let named = user(.username(name))
        let key = name.contains("@") ? Text.emailKey(name) : nil
        let addressed = key.map { users(named: $0, orAddress: $0, limit: 2) }
        if let user = try named.value() { return user }
        let found = try addressed?.value() ?? []
        return found.count == 1 ? found[0] : nil
    }
}
