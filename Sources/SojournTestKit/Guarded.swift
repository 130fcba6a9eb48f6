#if canImport(os)
    internal import os
#else
    internal import Locks
#endif

/// A value that one thread at a time can access. Copies share the value.
package struct Guarded<Value>: Sendable {
    #if canImport(os)
        private let lock: OSAllocatedUnfairLock<Value>

        /// Creates a lock around `value`.
        package init(_ value: sending Value) { lock = OSAllocatedUnfairLock(uncheckedState: value) }

        /// Runs `body` with exclusive access to the value. `body` must not call it again.
        package func withLock<Result, Failure: Error>(
            _ body: (inout Value) throws(Failure) -> sending Result
        ) throws(Failure) -> sending Result {
            // `withLockUnchecked` has no typed errors.
            try lock.withLockUnchecked { value -> Swift.Result<Result, Failure> in
                do throws(Failure) { return .success(try body(&value)) } catch { return .failure(error) }
            }.get()
        }
    #else
        private let lock: Locked<Value>

        /// Creates a lock around `value`.
        package init(_ value: consuming sending Value) { lock = Locked(value) }

        /// Runs `body` with exclusive access to the value. `body` must not call it again.
        package func withLock<Result, Failure: Error>(
            _ body: (inout sending Value) throws(Failure) -> sending Result
        ) throws(Failure) -> sending Result {
            try lock.withLock(body)
        }
    #endif
}
