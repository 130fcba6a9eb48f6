internal import Locks

/// The context that new connections of a listener take. Replacing it leaves those that are there alone.
public final class TLSContextHolder: Sendable {
    private let context: Locked<TLSContext>

    /// Begins with a context.
    public init(_ context: TLSContext) { self.context = Locked(context) }

    /// The context of today.
    public var current: TLSContext { context.withLock { $0 } }

    /// Has new connections take another one.
    public func replace(with new: TLSContext) { context.withLock { $0 = new } }
}
