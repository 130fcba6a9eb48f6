public import Glibc

/// A value that one thread at a time can access. Copies share the value.
///
/// Inlinable, because each refresh takes about thirty locks, and a generic type that is not specialized looks up its metadata
/// at each of them: 12 000 instructions a refresh.
@safe public struct Locked<Value>: @unchecked Sendable {
    // Sendable, because the value was passed in as `sending` and is accessed only under the lock.
    @usableFromInline let storage: Storage

    /// Lock and value in one allocation, because each refresh creates two of these.
    @safe @usableFromInline final class Storage: ManagedBuffer<pthread_mutex_t, Value> {
        @inlinable deinit {
            unsafe withUnsafeMutablePointers { mutex, value in
                unsafe value.deinitialize(count: 1)
                unsafe pthread_mutex_destroy(mutex)
            }
        }
    }

    /// Creates a lock around `value`.
    @inlinable public init(_ value: consuming sending Value) {
        let buffer = unsafe Storage.create(minimumCapacity: 1) { _ in unsafe pthread_mutex_t() }
        storage = unsafe unsafeDowncast(buffer, to: Storage.self)
        let (mutex, place) = unsafe storage.withUnsafeMutablePointers { unsafe ($0, $1) }
        unsafe pthread_mutex_init(mutex, nil)
        unsafe place.initialize(to: value)
    }

    /// Runs `body` with exclusive access to the value. `body` must not call it again.
    @inlinable public func withLock<Result, Failure: Error>(
        _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        // The pointers are valid as long as the storage, which lives until the end of this call.
        let (mutex, value) = unsafe storage.withUnsafeMutablePointers { unsafe ($0, $1) }
        unsafe pthread_mutex_lock(mutex)
        defer {
            unsafe pthread_mutex_unlock(mutex)
            extendLifetime(storage)
        }
        return unsafe try body(&value.pointee)
    }
}
