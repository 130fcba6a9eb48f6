internal import COpenSSL
internal import Locks

/// Contexts for the same work, each lent to one thread at a time: to make or to copy one takes as long as a short digest.
struct ContextPool: Sendable {
    private let idle = Locked<[LibraryObject]>([])
    private let make: @Sendable () -> LibraryObject

    /// A pool that gets another context from `make` when all are lent. It keeps as many as there were threads at once.
    init(_ make: @escaping @Sendable () -> LibraryObject) { self.make = make }

    /// Runs `body` with a context that nobody else has meanwhile, as whoever had it last has left it.
    func withContext<Result>(_ body: (OpaquePointer) -> Result) -> Result {
        let context = idle.withLock { $0.popLast() } ?? make()
        defer { idle.withLock { $0.append(context) } }
        return unsafe body(context.pointer)
    }
}
