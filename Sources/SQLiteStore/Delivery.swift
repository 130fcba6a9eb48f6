internal import Sessions

/// What a change or a read came to, on its way from the store's thread to the caller.
final class Delivery<Outcome: Sendable>: @unchecked Sendable {
    // Sendable, because the store's thread sets it before it resumes the caller, and the caller looks at it after that.
    private var outcome: Outcome?

    /// Sets it; again, if the change has to be run again.
    func set(_ outcome: consuming Outcome) { self.outcome = outcome }

    /// What was set; once.
    func take() -> Outcome {
        guard let outcome = outcome.take() else {
            preconditionFailure("a caller was answered before the change or read was run")
        }
        return outcome
    }
}

/// Somebody who waits for a read: resumed with nil once it was delivered, else with what it was refused with.
typealias Caller = CheckedContinuation<StoreError?, Never>
