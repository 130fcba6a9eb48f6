internal import Sessions

/// Carries the outcome of a change or a read from the store's thread to the caller.
final class Delivery<Outcome: Sendable>: @unchecked Sendable {
    // Sendable, because the store's thread sets the outcome before it resumes the caller, and the caller reads it after that.
    private var delivered: Outcome?

    /// Sets the outcome. A change that runs again sets it again.
    func set(_ outcome: consuming Outcome) { delivered = outcome }

    /// The outcome that was set.
    var outcome: Outcome {
        guard let delivered else { preconditionFailure("somebody was answered before the change or read was run") }
        return delivered
    }
}

/// The caller of a read. It is resumed with nil after a delivery, or with the error of a refusal.
typealias Caller = CheckedContinuation<StoreError?, Never>
