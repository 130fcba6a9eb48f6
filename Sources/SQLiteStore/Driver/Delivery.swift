internal import Sessions

/// What a change or a read came to, on its way from the store's thread to the caller.
final class Delivery<Outcome: Sendable>: @unchecked Sendable {
    // Sendable, because the store's thread sets it before it resumes the caller, and the caller looks at it after that.
    private var delivered: Outcome?

    /// Sets it; again, if the change has to be run again.
    func set(_ outcome: consuming Outcome) { delivered = outcome }

    /// What was set.
    var outcome: Outcome {
        guard let delivered else { preconditionFailure("somebody was answered before the change or read was run") }
        return delivered
    }
}

/// Somebody who waits for a read: resumed with nil once it was delivered, else with what it was refused with.
typealias Caller = CheckedContinuation<StoreError?, Never>
