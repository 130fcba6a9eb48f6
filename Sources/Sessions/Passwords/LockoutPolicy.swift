/// How guessing passwords is slowed down.
public struct LockoutPolicy: Hashable, Sendable {
    /// Wrong passwords after which the next one has to wait; 0: none ever does.
    public var triesBeforeDelay = 10
    /// Wrong passwords after which no password is taken for a while.
    public var triesBeforeLock = 20
    /// How long that is.
    public var lockDuration = Duration.seconds(900)

    /// The longest wait before the lock.
    static let delayMax = Duration.seconds(60)
    /// A row of wrong passwords that has paused for so long begins anew.
    public static let memory = Duration.seconds(86_400)

    /// The defaults.
    public init() {}

    /// How long to wait after so many wrong passwords in a row: a second, two, four, up to a minute; then the lock.
    func delay(after count: Int) -> Duration {
        if triesBeforeDelay == 0 || count < triesBeforeDelay { return .zero }
        if count >= triesBeforeLock { return lockDuration }
        let exponent = min(count - triesBeforeDelay, 6)
        return min(.seconds(1 << exponent), Self.delayMax)
    }

    /// Whether so many wrong passwords in a row are too many.
    func isLock(after count: Int) -> Bool { triesBeforeDelay > 0 && count >= triesBeforeLock }

    /// How long to wait after these, however long ago the last one came.
    func delay(after failedAttempts: FailedAttempts?, at now: Instant) -> Duration {
        guard let failedAttempts, now <= failedAttempts.lastAt + Self.memory else { return .zero }
        return delay(after: failedAttempts.count)
    }

    /// Nil: a password may be tried at `now`. Else how long to wait.
    func wait(after failedAttempts: FailedAttempts?, at now: Instant) -> Duration? {
        guard let failedAttempts else { return nil }
        let end = failedAttempts.lastAt + delay(after: failedAttempts, at: now)
        return now < end ? end - now : nil
    }

    /// The same, if there were so many that none is taken, be it right.
    func lock(after failedAttempts: FailedAttempts?, at now: Instant) -> Duration? {
        guard let failedAttempts, isLock(after: failedAttempts.count) else { return nil }
        return wait(after: failedAttempts, at: now)
    }

    /// What one more wrong password at `now` makes of those that were counted.
    func adding(to failedAttempts: FailedAttempts?, at now: Instant) -> FailedAttempts {
        guard let failedAttempts, now <= failedAttempts.lastAt + Self.memory else {
            return FailedAttempts(count: 1, lastAt: now)
        }
        return FailedAttempts(count: failedAttempts.count + 1, lastAt: max(failedAttempts.lastAt, now))
    }

    /// What one more wrong password at `now` makes of those that a user has.
    func adding(to wrong: User.WrongPasswords?, at now: Instant) -> User.WrongPasswords {
        let isNew = wrong.map { now > $0.lastAt + Self.memory } ?? true
        let count = (isNew ? 0 : wrong?.count ?? 0) + 1
        if isLock(after: count) {
            return User.WrongPasswords(count: count, lastAt: now, lockedUntil: now + lockDuration)
        }
        let liftedAt = isNew ? nil : wrong?.liftedAt.map { min($0, now) }
        return User.WrongPasswords(count: count, lastAt: now, lockedUntil: liftedAt)
    }
}
