import Foundation

/// A value that one thread at a time can access.
package final class Guarded<Value>: @unchecked Sendable {
    // Sendable, because the value was passed in as `sending` and is accessed only under the lock.
    private let lock = NSLock()
    private var value: Value

    /// Creates a lock around `value`.
    package init(_ value: sending Value) { self.value = value }

    /// Runs `body` with exclusive access to the value. `body` must not call it again.
    package func withLock<Result, Failure: Error>(
        _ body: (inout Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        lock.lock()
        defer { lock.unlock() }
        return try body(&value)
    }
}
