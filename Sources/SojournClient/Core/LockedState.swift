#if canImport(os)
    internal import os
#else
    internal import Locks
#endif

/// A value that one thread at a time can access. Copies share the value.
struct LockedState<State: Sendable>: Sendable {
    #if canImport(os)
        private let lock: OSAllocatedUnfairLock<State>

        init(_ state: State) { lock = OSAllocatedUnfairLock(initialState: state) }
    #else
        private let lock: Locked<State>

        init(_ state: State) { lock = Locked(state) }
    #endif

    /// Runs `body` with exclusive access to the value. `body` must not call it again.
    func withLock<Result: Sendable>(_ body: @Sendable (inout State) -> Result) -> Result {
        #if canImport(os)
            lock.withLock(body)
        #else
            lock.withLock { state in body(&state) }
        #endif
    }
}
