/// A failed-attempts row that has admitted the comparison of a password.
struct AdmittedAttempt {
    let target: LockoutTarget
    let at: Instant
    /// Whether the attempt is already counted as wrong.
    let isCounted: Bool
}

// The attempts of a session, and of logins from a device with a session, are counted in the store, so that ten nodes allow as
// many as one. A wrong password is counted in a transaction, and answered as wrong only if no lock has come before. A right
// password costs a read, and a write only to delete earlier failed attempts.
extension PasswordVerifier {
    /// Admits an attempt. Once there are delays, the attempt is counted before the comparison, so that all nodes admit one at a
    /// time; an attempt that a busy server could not compare stays counted.
    func admit(at target: LockoutTarget, _ now: Instant) async throws(ServiceError) -> AdmittedAttempt {
        let failedAttempts = try await inStore(await store.failedAttempts(at: target))
        guard context.lockoutPolicy.delay(after: failedAttempts, at: now) > .zero else {
            return AdmittedAttempt(target: target, at: now, isCounted: false)
        }
        let wait = try await updateAttempts(at: target) { [policy = context.lockoutPolicy] change -> Duration? in
            if let wait = policy.wait(after: change.failedAttempts, at: now) { return wait }
            change.failedAttempts = policy.adding(to: change.failedAttempts, at: now)
            return nil
        }
        if let wait { throw .tooManyRequests(retryAfter: wait) }
        return AdmittedAttempt(target: target, at: now, isCounted: true)
    }

    /// The failed attempts before one that was compared meanwhile. Throws if they have brought a lock, which refuses right
    /// passwords, too.
    func failedAttempts(before attempt: AdmittedAttempt) async throws(ServiceError) -> FailedAttempts? {
        let failedAttempts = try await inStore(await store.failedAttempts(at: attempt.target))
        if !attempt.isCounted, let wait = context.lockoutPolicy.lock(after: failedAttempts, at: attempt.at) {
            throw .tooManyRequests(retryAfter: wait)
        }
        return failedAttempts
    }

    /// Counts a wrong password, and records it in the audit trail. Throws if other attempts have brought a lock meanwhile.
    func countWrong(_ attempt: AdmittedAttempt, _ event: AuditEvent) async throws(ServiceError) {
        let wait = try await updateAttempts(at: attempt.target) {
            [policy = context.lockoutPolicy] change -> Duration? in
            if !attempt.isCounted {
                if let wait = policy.lock(after: change.failedAttempts, at: attempt.at) { return wait }
                change.failedAttempts = policy.adding(to: change.failedAttempts, at: attempt.at)
            }
            change.events.append(event)
            return nil
        }
        if let wait { throw .tooManyRequests(retryAfter: wait) }
    }

    /// Deletes the failed attempts before a right password, if there are any.
    func forget(_ failedAttempts: FailedAttempts?, before attempt: AdmittedAttempt) async throws(ServiceError) {
        if failedAttempts == nil { return }
        try await updateAttempts(at: attempt.target) { $0.failedAttempts = nil }
    }

    private func updateAttempts<Outcome: Sendable>(
        at target: LockoutTarget, _ change: @escaping @Sendable (inout FailedAttemptsChange) -> Outcome
    ) async throws(ServiceError) -> Outcome {
        try await inStore(await store.updateFailedAttempts(at: target, change))
    }
}
