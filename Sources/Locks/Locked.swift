// Locks: a value behind a lock, and nothing else.
//
// `Synchronization.Mutex` would do, but its slow path lies in the standard library, where the thread sanitizer cannot
// see it: every contended use is reported as a race, and a real race would drown among them. A POSIX mutex is seen.

internal import Glibc

/// A value that is touched by one thread at a time.
@safe public final class Locked<Value>: @unchecked Sendable {
    // Sendable, because the value came in by `sending` and is reached only between lock and unlock.
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let value: UnsafeMutablePointer<Value>

    /// Puts `value` behind a lock.
    public init(_ value: consuming sending Value) {
        unsafe mutex = .allocate(capacity: 1)
        unsafe mutex.initialize(to: pthread_mutex_t())
        unsafe pthread_mutex_init(mutex, nil)
        unsafe self.value = .allocate(capacity: 1)
        unsafe self.value.initialize(to: value)
    }

    deinit {
        unsafe value.deinitialize(count: 1)
        unsafe value.deallocate()
        unsafe pthread_mutex_destroy(mutex)
        unsafe mutex.deallocate()
    }

    /// Runs `body` with the value, alone. Not to be called from within `body`.
    public func withLock<Result, Failure: Error>(
        _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        return unsafe try body(&value.pointee)
    }
}
