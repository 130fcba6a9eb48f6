/// The delays and locks that slow down the guessing of passwords.
public struct LockoutPolicy: Hashable, Sendable {
    /// The number of failed attempts from which the next one is delayed; 0 switches delays and locks off.
    public var triesBeforeDelay = 10
    /// The number of failed attempts that causes a lock.
    public var triesBeforeLock = 20
    /// The duration of a lock.
    public var lockDuration = Duration.seconds(900)

    /// The longest delay before the lock.
    static let delayMax = Duration.seconds(60)
    /// The pause after which the count begins anew.
    public static let memory = Duration.seconds(86_400)

    /// Creates the default policy.
    public init() {}

    /// The delay after `count` failed attempts in a row: one second, two, four, up to a minute; then the lock.
    func delay(after count: Int) -> Duration {
        if triesBeforeDelay == 0 || count < triesBeforeDelay { return .zero }
        if count >= triesBeforeLock { return lockDuration }
        let exponent = min(count - triesBeforeDelay, 6)
        return min(.seconds(1 << exponent), Self.delayMax)
    }

    /// Returns true if `count` failed attempts in a row cause a lock.
    func isLock(after count: Int) -> Bool { triesBeforeDelay > 0 && count >= triesBeforeLock }

    /// The delay after these attempts, counted from the last of them; zero once they are forgotten at `now`.
    func delay(after failedAttempts: FailedAttempts?, at now: Instant) -> Duration {
        guard let failedAttempts, now <= failedAttempts.lastAt + Self.memory else { return .zero }
        return delay(after: failedAttempts.count)
    }

    /// Returns nil if a password may be tried at `now`, else the time to wait.
    func wait(after failedAttempts: FailedAttempts?, at now: Instant) -> Duration? {
        guard let failedAttempts else { return nil }
        let end = failedAttempts.lastAt + delay(after: failedAttempts, at: now)
        return now < end ? end - now : nil
    }

    /// Returns the rest of the lock, in which even the right password is refused; nil if there is no lock.
    func lock(after failedAttempts: FailedAttempts?, at now: Instant) -> Duration? {
        guard let failedAttempts, isLock(after: failedAttempts.count) else { return nil }
        return wait(after: failedAttempts, at: now)
    }

    /// The count after one more failed attempt at `now`.
    func adding(to failedAttempts: FailedAttempts?, at now: Instant) -> FailedAttempts {
        guard let failedAttempts, now <= failedAttempts.lastAt + Self.memory else {
            return FailedAttempts(count: 1, lastAt: now)
        }
        return FailedAttempts(count: failedAttempts.count + 1, lastAt: max(failedAttempts.lastAt, now))
    }

    /// The user's count after one more wrong password at `now`.
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
