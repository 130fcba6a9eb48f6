#if canImport(os)
    internal import os
#else
    internal import Locks
#endif

/// A value that one thread at a time can access.
package final class Guarded<Value>: Sendable {
    #if canImport(os)
        private let lock: OSAllocatedUnfairLock<Value>

        /// Creates a lock around `value`.
        package init(_ value: sending Value) { lock = OSAllocatedUnfairLock(uncheckedState: value) }
    #else
        private let lock: Locked<Value>

        /// Creates a lock around `value`.
        package init(_ value: sending Value) { lock = Locked(value) }
    #endif

    /// Runs `body` with exclusive access to the value. `body` must not call it again.
    package func withLock<Result, Failure: Error>(
        _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        try lock.withLock(body)
    }
}
