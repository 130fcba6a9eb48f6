/// Looking for something of which an admin knows a part.
extension Administration {
    /// The user with that username, or with that address as username or verified address; nil if there is none, or several.
    public func user(called name: String) async throws(ServiceError) -> User? {
        guard Text.isValid(name, lengthMax: User.usernameLengthMax) else { return nil }
        return try await inStore { () async throws(StoreError) in
            if let user = try await store.user(.username(name)) { return user }
            guard name.contains("@") else { return nil }
            let found = try await store.users(withAddress: name, limit: 2)
            return found.count == 1 ? found[0] : nil
        }
    }

    /// Up to `limit` users with that telephone number, sorted by username, found by an index.
    public func users(withPhoneNumber number: String, limit: Int) async throws(ServiceError) -> [User] {
        try await inStore { () async throws(StoreError) in
            try await store.users(withPhoneNumber: number, limit: limit)
        }
    }

    /// The usernames of those of the users that exist, by one read.
    public func usernames(
        of ids: Set<Identifier<User>>
    ) async throws(ServiceError) -> [Identifier<User>: String] {
        if ids.isEmpty { return [:] }
        return try await inStore { () async throws(StoreError) in
            let users = try await store.read(.short) { (reader) throws(TransactionError) in
                try reader.users(Array(ids), named: []).value()
            }
            return Dictionary(users.map { ($0.id, $0.username) }) { first, _ in first }
        }
    }

    /// Those of the sessions that are known, by one read.
    public func sessions(_ ids: [Identifier<Session>]) async throws(ServiceError) -> [Session] {
        if ids.isEmpty { return [] }
        return try await inStore { () async throws(StoreError) in
            try await store.read(.short) { (reader) throws(TransactionError) in try reader.sessions(ids).value() }
        }
    }

    /// The login on the server's page with that id; nil if there is none.
    public func login(_ id: Identifier<Session>) async throws(ServiceError) -> PageLogin? {
        try await inStore { () async throws(StoreError) in try await store.login(id) }
    }

    /// The admin key with that id; nil if there is none, or if it has expired.
    public func adminKey(withID id: String) async throws(ServiceError) -> AdminKey? {
        let now = context.clock.now
        return try await adminKeys().first { $0.id == id && ($0.expiresAt.map { now < $0 } ?? true) }
    }

    /// The newest events before number `cursor`; nil begins with the last one.
    public func events(before cursor: Int64?, limit: Int) async throws(ServiceError) -> [RecordedEvent] {
        try await inStore { () async throws(StoreError) in try await store.events(before: cursor, limit: limit) }
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
    /// - Returns: up to `limit` events that match, and the cursor from which the search goes on; nil: the trail ends.
    public func searchEvents(
        ofUser userID: Identifier<User>? = nil, before cursor: Int64?, since: Instant? = nil, limit: Int,
        reads: Int = Administration.readsMax,
        matching isMatch: (AuditEvent) -> Bool
    ) async throws(ServiceError) -> (events: [RecordedEvent], next: Int64?) {
        var (found, cursor, left) = ([RecordedEvent](), cursor, reads)
        while left > 0 {
            let step = min(left, userID == nil ? 1000 : 200)
            let events = try await inStore { [cursor] () async throws(StoreError) in
                if let userID { return try await store.events(ofUser: userID, before: cursor, limit: step) }
                return try await store.events(before: cursor, limit: step)
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
