internal import Locks

/// What a node counts failed logins for.
enum AttemptSubject: Hashable, Sendable {
    /// A name that was typed, existing or not, by its key.
    case name(String)
    /// A user, by whichever name.
    case user(Identifier<User>)
}

/// What the failed logins of one account count for.
struct AttemptCounts {
    /// The subject that is told of its delays.
    let told: AttemptSubject
    /// The user of a typed name. Its delays bring the answer to a wrong password, because the answer 429 to a name with few
    /// failures would tell that another name is the same user's.
    let hidden: AttemptSubject?

    /// Both.
    var all: [AttemptSubject] { [told] + (hidden.map { [$0] } ?? []) }

    /// The counts for `account`, which is that of `user`; nil: of no user.
    init(of account: PasswordAttempt.Account, _ user: User?) {
        switch account {
        case .named(let name, _): (told, hidden) = (.name(Text.key(name)), user.map { .user($0.id) })
        case .known(let id): (told, hidden) = (.user(id), nil)
        }
    }
}

/// Counts failed attempts for each subject, existing or not, in bounded memory.
///
/// A random hash assigns each subject to one of many small sets, so that an attacker cannot choose a set. In a full set a new
/// subject replaces the smallest count, so that pushing a count out takes as many failures with other names.
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
    func wait(_ subject: AttemptSubject, at now: Instant) -> Duration? {
        with(subject) { rows, place, tag in
            guard rows[place].tag == tag else { return nil }
            let now = now.secondsSinceEpoch
            let delay = policy.delay(after: rows[place].count).wholeSeconds
            if delay == 0 || now > rows[place].lastAt + LockoutPolicy.memory.wholeSeconds { return nil }
            if now < rows[place].waitsUntil { return .seconds(rows[place].waitsUntil - now) }
            rows[place].waitsUntil = now + delay
            return nil
        }
    }

    func count(_ subject: AttemptSubject, at now: Instant) {
        with(subject) { rows, place, tag in
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

    /// Forgets the failed attempts of a subject, or only those up to `instant`.
    func forget(_ subject: AttemptSubject, upTo instant: Instant? = nil) {
        with(subject) { rows, place, tag in
            guard rows[place].tag == tag else { return }
            if let instant, rows[place].lastAt > instant.secondsSinceEpoch { return }
            rows[place] = Row()
        }
    }

    private func with<Value: Sendable>(
        _ subject: AttemptSubject, _ body: (inout [Row], Int, Int) -> Value
    ) -> Value {
        let tag = max(1, subject.hashValue & Int.max)
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
