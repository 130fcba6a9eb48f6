/// A password that may be compared.
struct AdmittedTry {
    let target: GuessTarget
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
    func admit(at target: GuessTarget, _ now: Instant) async throws(ServiceError) -> AdmittedTry {
        let guesses = try await inStore { () async throws(StoreError) in try await store.guesses(at: target) }
        guard context.guessPolicy.delay(after: guesses, at: now) > .zero else {
            return AdmittedTry(target: target, at: now, isCounted: false)
        }
        let wait = try await changeGuesses(at: target) { [policy = context.guessPolicy] change -> Duration? in
            if let wait = policy.wait(after: change.guesses, at: now) { return wait }
            change.guesses = policy.adding(to: change.guesses, at: now)
            return nil
        }
        if let wait { throw .tooManyRequests(retryAfter: wait) }
        return AdmittedTry(target: target, at: now, isCounted: true)
    }

    /// What was wrong before a password that has been compared meanwhile. Throws if so much that none is taken, be it right.
    func guesses(before attempt: AdmittedTry) async throws(ServiceError) -> Guesses? {
        let guesses = try await inStore { () async throws(StoreError) in try await store.guesses(at: attempt.target) }
        if !attempt.isCounted, let wait = context.guessPolicy.lock(after: guesses, at: attempt.at) {
            throw .tooManyRequests(retryAfter: wait)
        }
        return guesses
    }

    /// Counts a wrong password, and tells the trail; throws if others have brought a lock meanwhile.
    func countWrong(_ attempt: AdmittedTry, _ event: AuditEvent) async throws(ServiceError) {
        let wait = try await changeGuesses(at: attempt.target) { [policy = context.guessPolicy] change -> Duration? in
            if !attempt.isCounted {
                if let wait = policy.lock(after: change.guesses, at: attempt.at) { return wait }
                change.guesses = policy.adding(to: change.guesses, at: attempt.at)
            }
            change.events.append(event)
            return nil
        }
        if let wait { throw .tooManyRequests(retryAfter: wait) }
    }

    /// Forgets what was wrong before a right password, if anything was.
    func forget(_ guesses: Guesses?, before attempt: AdmittedTry) async throws(ServiceError) {
        if guesses == nil { return }
        try await changeGuesses(at: attempt.target) { $0.guesses = nil }
    }

    private func changeGuesses<Outcome: Sendable>(
        at target: GuessTarget, _ change: @escaping @Sendable (inout GuessChange) -> Outcome
    ) async throws(ServiceError) -> Outcome {
        try await inStore { () async throws(StoreError) in try await store.updateGuesses(at: target, change) }
    }
}
