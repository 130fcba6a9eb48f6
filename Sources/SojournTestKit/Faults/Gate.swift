internal import Dispatch

/// Holds answers back until a test opens it, so that no test has to guess how long something takes. Two gates are equal if they
/// are one object.
public final class Gate: Hashable, Sendable {
    private let group = DispatchGroup()
    private let isOpen = Guarded(false)

    /// A closed gate.
    public init() { group.enter() }

    deinit { open() }

    /// Lets everything through that waits, and all that comes later.
    public func open() {
        let wasOpen = isOpen.withLock { isOpen in
            defer { isOpen = true }
            return isOpen
        }
        if !wasOpen { group.leave() }
    }

    /// Waits until the gate is open.
    package func pass() async {
        await withCheckedContinuation { continuation in
            group.notify(queue: .global()) { continuation.resume() }
        }
    }

    /// Blocks the thread until the gate is open, for two minutes at most.
    package func blockUntilOpen() { _ = group.wait(timeout: .now() + 120) }

    /// Whether both are one object.
    public static func == (left: Gate, right: Gate) -> Bool { left === right }

    /// Hashes the identity.
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
