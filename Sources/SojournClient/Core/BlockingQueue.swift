internal import Dispatch

/// Runs calls that can block, one at a time, outside of the threads on which tasks run: those are few, and all tasks of the app
/// wait if they block.
struct BlockingQueue: Sendable {
    private let queue = DispatchQueue(label: "sojourn")

    /// Runs `body` and returns its result. A cancelled task waits for the end as well, because half a write helps nothing.
    func run<Success: Sendable, Failure: Error>(
        _ body: @escaping @Sendable () throws(Failure) -> Success
    ) async throws(Failure) -> Success {
        let result: Result<Success, Failure> = await withCheckedContinuation { continuation in
            queue.async { continuation.resume(returning: Result(catching: body)) }
        }
        return try result.get()
    }
}
