internal import Locks

/// Wakes this node's sender of mails after a request has queued one, so that a code leaves at once. Without a sender nothing
/// is woken: other nodes find the mail by its time.
public final class MailWaker: Sendable {
    private let action = Locked<(@Sendable () -> Void)?>(nil)

    /// A waker without a sender.
    public init() {}

    /// Lets `wake` call `action`.
    public func onWake(_ action: @escaping @Sendable () -> Void) { self.action.withLock { $0 = action } }

    /// Wakes the sender.
    public func wake() { action.withLock { $0 }?() }
}
