internal import Synchronization

/// A number that only grows. Each change is one atomic addition, from any thread.
public final class Counter: Sendable {
    private let total = Atomic<UInt64>(0)

    init() {}

    /// Adds `amount`.
    public func increment(by amount: UInt64 = 1) { total.wrappingAdd(amount, ordering: .relaxed) }

    /// The sum of all increments.
    public var value: UInt64 { total.load(ordering: .relaxed) }
}

/// A number that can grow and shrink.
public final class Gauge: Sendable {
    private let current = Atomic<Int64>(0)

    init() {}

    /// Replaces the number.
    public func set(_ value: Int64) { current.store(value, ordering: .relaxed) }

    /// Adds `amount`, which may be negative.
    public func add(_ amount: Int64) { current.wrappingAdd(amount, ordering: .relaxed) }

    /// The current number.
    public var value: Int64 { current.load(ordering: .relaxed) }
}
