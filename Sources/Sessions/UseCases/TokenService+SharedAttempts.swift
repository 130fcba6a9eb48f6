/// A password that may be compared.
struct AdmittedAttempt {
    let target: LockoutTarget
    let at: Instant
    /// Whether it was counted as a wrong one already.
    let isCounted: Bool
}

// The tries that a session has, and logins from a device with a session: on ten nodes they are as many as on one. What is wrong
// is counted in a transaction, and answered as wrong only if no lock has come before. What is right costs a look at what was
// wrong before, and a write only to forget that.
extension TokenService {
    /// Lets a password be tried. Once there are delays, it is counted before it is compared, so that one try at a time passes,
    /// whatever nodes they come to; nor does one get back its place that a busy server could not compare.
    func admit(at target: LockoutTarget, _ now: Instant) async throws(ServiceError) -> AdmittedAttempt {
        let failedAttempts = try await inStore { () async throws(StoreError) in
            try await store.failedAttempts(at: target)
        }
        guard context.lockoutPolicy.delay(after: failedAttempts, at: now) > .zero else {
            return AdmittedAttempt(target: target, at: now, isCounted: false)
        }
        let wait = try await changeGuesses(at: target) { [policy = context.lockoutPolicy] change -> Duration? in
            if let wait = policy.wait(after: change.failedAttempts, at: now) { return wait }
            change.failedAttempts = policy.adding(to: change.failedAttempts, at: now)
            return nil
        }
        if let wait { throw .tooManyRequests(retryAfter: wait) }
        return AdmittedAttempt(target: target, at: now, isCounted: true)
    }

    /// What was wrong before a password that has been compared meanwhile. Throws if so much that none is taken, be it right.
    func failedAttempts(before attempt: AdmittedAttempt) async throws(ServiceError) -> FailedAttempts? {
        let failedAttempts = try await inStore { () async throws(StoreError) in
            try await store.failedAttempts(at: attempt.target)
        }
        if !attempt.isCounted, let wait = context.lockoutPolicy.lock(after: failedAttempts, at: attempt.at) {
            throw .tooManyRequests(retryAfter: wait)
        }
        return failedAttempts
    }

    /// Counts a wrong password, and tells the trail; throws if others have brought a lock meanwhile.
    func countWrong(_ attempt: AdmittedAttempt, _ event: AuditEvent) async throws(ServiceError) {
        let wait = try await changeGuesses(at: attempt.target) { [policy = context.lockoutPolicy] change -> Duration? in
            if !attempt.isCounted {
                if let wait = policy.lock(after: change.failedAttempts, at: attempt.at) { return wait }
                change.failedAttempts = policy.adding(to: change.failedAttempts, at: attempt.at)
            }
            change.events.append(event)
            return nil
        }
        if let wait { throw .tooManyRequests(retryAfter: wait) }
    }

    /// Forgets what was wrong before a right password, if anything was.
    func forget(_ failedAttempts: FailedAttempts?, before attempt: AdmittedAttempt) async throws(ServiceError) {
        if failedAttempts == nil { return }
        try await changeGuesses(at: attempt.target) { $0.failedAttempts = nil }
    }

    private func changeGuesses<Outcome: Sendable>(
        at target: LockoutTarget, _ change: @escaping @Sendable (inout FailedAttemptsChange) -> Outcome
    ) async throws(ServiceError) -> Outcome {
        try await inStore { () async throws(StoreError) in try await store.updateFailedAttempts(at: target, change) }
    }
}
