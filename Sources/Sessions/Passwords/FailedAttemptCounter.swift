internal import Locks

/// Counts failed attempts for each name, existing or not, in bounded memory.
///
/// A random hash assigns each name to one of many small sets, so that an attacker cannot choose a set. In a full set a new name
/// replaces the smallest count, so that an attacker who wants a count forgotten has to fail as often with other names.
final class FailedAttemptCounter: Sendable {
    private struct Row {
        var tag = 0
        var count = 0
        var lastAt = Int64.min
        var waitsUntil = Int64.min
    }

    private static let setCount = 1024
    private static let setSize = 8

    private let policy: LockoutPolicy
    /// The table is empty until the first password.
    private let rows = Locked<[Row]>([])

    init(_ policy: LockoutPolicy) { self.policy = policy }

    /// Returns nil if a password may be tried at `now`, else the time to wait. Once delays apply, one attempt at a time is
    /// admitted, because an admitted attempt delays the next ones before it fails.
    func wait(_ name: String, at now: Instant) -> Duration? {
        with(name) { rows, place, tag in
            guard rows[place].tag == tag else { return nil }
            let now = now.secondsSinceEpoch
            let delay = policy.delay(after: rows[place].count).wholeSeconds
            if delay == 0 || now > rows[place].lastAt + LockoutPolicy.memory.wholeSeconds { return nil }
            if now < rows[place].waitsUntil { return .seconds(rows[place].waitsUntil - now) }
            rows[place].waitsUntil = now + delay
            return nil
        }
    }

    /// Counts a failed attempt.
    func count(_ name: String, at now: Instant) {
        with(name) { rows, place, tag in
            let now = now.secondsSinceEpoch
            if rows[place].tag != tag || now > rows[place].lastAt + LockoutPolicy.memory.wholeSeconds {
                rows[place] = Row(tag: tag)
            }
            rows[place].count += 1
            rows[place].lastAt = now
            let waitsUntil = now + policy.delay(after: rows[place].count).wholeSeconds
            rows[place].waitsUntil = max(rows[place].waitsUntil, waitsUntil)
        }
    }

    /// Forgets the failed attempts for a name, or only those up to `instant`.
    func forget(_ name: String, upTo instant: Instant? = nil) {
        with(name) { rows, place, tag in
            guard rows[place].tag == tag else { return }
            if let instant, rows[place].lastAt > instant.secondsSinceEpoch { return }
            rows[place] = Row()
        }
    }

    private func with<Value: Sendable>(
        _ name: String, _ body: (inout [Row], Int, Int) -> Value
    ) -> Value {
        let tag = max(1, name.hashValue & Int.max)
        return rows.withLock { rows in
            if rows.isEmpty { rows = Array(repeating: Row(), count: Self.setCount * Self.setSize) }
            let first = tag % Self.setCount * Self.setSize
            var least = first
            for place in first..<first + Self.setSize {
                if rows[place].tag == tag { return body(&rows, place, tag) }
                if (rows[place].count, rows[place].lastAt) < (rows[least].count, rows[least].lastAt) { least = place }
            }
            return body(&rows, least, tag)
        }
    }
}
