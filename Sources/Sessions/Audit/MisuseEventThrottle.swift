internal import Locks

/// Limits `refresh_token_misused` events to one per session and interval, and to eight sessions per user, in bounded memory, so
/// that they fill neither the audit trail nor the mailbox of a user.
final class MisuseEventThrottle: Sendable {
    private struct Row {
        /// How many events were recorded.
        var count = 0
        /// The end of the interval.
        var until: Instant
    }

    private struct Rows {
        var sessions: [Identifier<Session>: Row] = [:]
        var users: [Identifier<User>: Row] = [:]
    }

    /// The shortest interval, because strict rotation has a rotation interval of zero.
    static let intervalMin = Duration.seconds(60)
    /// The sessions of one user that are recorded in an interval: more than a user has devices.
    static let perUser = 8
    static let capacity = 4096

    private let rows = Locked(Rows())

    /// Whether to record a misuse of `session` at `now`; if so, none is recorded again for `interval`.
    func claim(_ session: Session, for interval: Duration, at now: Instant) -> Bool {
        rows.withLock { rows in
            // A row with an end too far ahead has expired, because the clock was set back.
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

    /// Takes back a claim whose event could not be recorded.
    func giveBack(_ session: Session) {
        rows.withLock { rows in
            if rows.sessions.removeValue(forKey: session.id) != nil { rows.users[session.userID]?.count -= 1 }
        }
    }
}
