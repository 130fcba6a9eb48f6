// Stands in for `os`.

// Sendable, as in the original.
public struct OSAllocatedUnfairLock<State>: @unchecked Sendable {
    public init(uncheckedState initialState: State) {}
    public init(initialState: State) where State: Sendable {}
    public func withLock<Result: Sendable>(_ body: @Sendable (inout State) throws -> Result) rethrows -> Result {
        fatalError("only the compiler calls it")
    }
    public func withLockUnchecked<Result>(_ body: (inout State) throws -> Result) rethrows -> Result {
        fatalError("only the compiler calls it")
    }
}
