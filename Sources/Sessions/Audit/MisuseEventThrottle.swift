internal import Locks

/// Limits `refresh_token_misused` events in bounded memory: one per session and interval, and eight sessions per user, so that
/// an attacker cannot flood the audit trail or a user's mailbox.
final class MisuseEventThrottle: Sendable {
    private struct Row {
        /// The number of sessions with an event.
        var count = 0
        /// The end of the interval.
        var until: Instant
    }

    private struct Rows {
        var sessions: [Identifier<Session>: Row] = [:]
        var users: [Identifier<User>: Row] = [:]
    }

    /// The shortest interval. With strict rotation the interval of the settings is zero.
    static let intervalMin = Duration.seconds(60)
    /// The number of sessions per user. It exceeds the devices of most users, and more sessions suggest an attack.
    static let perUser = 8
    static let capacity = 4096

    private let rows = Locked(Rows())

    /// Returns true if an event for `session` may be recorded at `now`; then not again within `interval`.
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

    /// Returns a claim, because no event was recorded.
    func giveBack(_ session: Session) {
        rows.withLock { rows in
            if rows.sessions.removeValue(forKey: session.id) != nil { rows.users[session.userID]?.count -= 1 }
        }
    }
}
