internal import Locks

/// Of which sessions it was told a moment ago that their tokens are misused, in memory that never grows: nobody can fill the audit
/// trail with it, or the mailbox of a user.
final class MisuseEventThrottle: Sendable {
    private struct Row {
        /// How many are told of.
        var count = 0
        /// Until when no more than those.
        var until: Instant
    }

    private struct Rows {
        var sessions: [Identifier<Session>: Row] = [:]
        var users: [Identifier<User>: Row] = [:]
    }

    /// With strict rotation the interval is nothing.
    static let intervalMin = Duration.seconds(60)
    /// More than the devices of anybody; who has more sessions than that may want to fill something.
    static let perUser = 8
    static let capacity = 4096

    private let rows = Locked(Rows())

    /// Whether to tell of `session` at `now`; then not again for `interval`.
    func claim(_ session: Session, for interval: Duration, at now: Instant) -> Bool {
        rows.withLock { rows in
            // A clock that was set back must not make a row last longer.
            func isOver(_ row: Row) -> Bool { now >= row.until || row.until > now + interval }
            if rows.sessions.count >= Self.capacity {
                rows.sessions = rows.sessions.filter { !isOver($0.value) }
                rows.users = rows.users.filter { !isOver($0.value) }
            }
            let end = now + interval
            if let row = rows.sessions[session.id], !isOver(row) { return false }
            var user = rows.users[session.userID] ?? Row(until: end)
            if isOver(user) { user = Row(until: end) }
            guard user.count < Self.perUser, rows.sessions.count < Self.capacity else { return false }
            user.count += 1
            rows.users[session.userID] = user
            rows.sessions[session.id] = Row(count: 1, until: end)
            return true
        }
    }

    /// Takes it back that it was told of `session`.
    func giveBack(_ session: Session) {
        rows.withLock { rows in
            if rows.sessions.removeValue(forKey: session.id) != nil { rows.users[session.userID]?.count -= 1 }
        }
    }
}
