internal import COpenSSL
internal import Locks

/// A pool of contexts for the same work. Each is used by one thread at a time, because creating or copying one takes as
/// long as a short digest.
struct ContextPool: Sendable {
    private let idle = Locked<[LibraryObject]>([])
    private let make: @Sendable () -> LibraryObject

    /// Creates a pool that calls `make` when all contexts are in use. It keeps as many as threads have used at one
    /// time.
    init(_ make: @escaping @Sendable () -> LibraryObject) { self.make = make }

    /// Runs `body` with exclusive use of a context, in the state in which the last call left it.
    func withContext<Result>(_ body: (OpaquePointer) -> Result) -> Result {
        let context = idle.withLock { $0.popLast() } ?? make()
        defer { idle.withLock { $0.append(context) } }
        return unsafe body(context.pointer)
    }
}
