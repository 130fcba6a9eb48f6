// Locks: a value behind a lock, and nothing else.
//
// `Synchronization.Mutex` would do, but its slow path lies in the standard library, where the thread sanitizer cannot
// see it: every contended use is reported as a race, and a real race would drown among them. A POSIX mutex is seen.

internal import Glibc

/// A value that is touched by one thread at a time. Copies share it.
@safe public struct Locked<Value>: @unchecked Sendable {
    // Sendable, because the value came in by `sending` and is reached only between lock and unlock.
    private let storage: Storage

    /// Lock and value in one piece of memory: a refresh makes two of these.
    @safe private final class Storage: ManagedBuffer<pthread_mutex_t, Value> {
        deinit {
            unsafe withUnsafeMutablePointers { mutex, value in
                unsafe value.deinitialize(count: 1)
                unsafe pthread_mutex_destroy(mutex)
            }
        }
    }

    /// Puts `value` behind a lock.
    public init(_ value: consuming sending Value) {
        let buffer = unsafe Storage.create(minimumCapacity: 1) { _ in unsafe pthread_mutex_t() }
        storage = unsafe unsafeDowncast(buffer, to: Storage.self)
        let (mutex, place) = unsafe storage.withUnsafeMutablePointers { unsafe ($0, $1) }
        unsafe pthread_mutex_init(mutex, nil)
        unsafe place.initialize(to: value)
    }

    /// Runs `body` with the value, alone. Not to be called from within `body`.
    public func withLock<Result, Failure: Error>(
        _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        // Good as long as the storage is, which is as long as this call.
        let (mutex, value) = unsafe storage.withUnsafeMutablePointers { unsafe ($0, $1) }
        unsafe pthread_mutex_lock(mutex)
        defer {
            unsafe pthread_mutex_unlock(mutex)
            extendLifetime(storage)
        }
        return unsafe try body(&value.pointee)
    }
}
