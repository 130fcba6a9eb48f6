internal import Sessions

/// Carries the outcome of a change or a read from the store's thread to the caller.
final class OutcomeBox<Outcome: Sendable>: @unchecked Sendable {
    // Sendable, because the store's thread sets the outcome before it resumes the caller, and the caller reads it after that.
    private var stored: Outcome?

    /// Sets the outcome. A change that runs again sets it again.
    func set(_ outcome: consuming Outcome) { stored = outcome }

    /// The outcome that was set.
    var outcome: Outcome {
        guard let stored else { preconditionFailure("a call was answered before its change or read was run") }
        return stored
    }
}

/// The caller of a read. It is resumed with nil after an outcome, or with the error of a refusal.
typealias Caller = CheckedContinuation<StoreError?, Never>
