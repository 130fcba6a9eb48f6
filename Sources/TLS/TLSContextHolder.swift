internal import Locks

/// The current context of a listener. Replacing it does not affect existing connections.
public final class TLSContextHolder: Sendable {
    private let context: Locked<TLSContext>

    /// Creates a holder with a first context.
    public init(_ context: TLSContext) { self.context = Locked(context) }

    /// The context for new connections.
    public var current: TLSContext { context.withLock { $0 } }

    /// Replaces the context for new connections.
    public func replace(with new: TLSContext) { context.withLock { $0 = new } }
}
