internal import Synchronization

/// A number that only grows. One atomic addition, from any thread.
public final class Counter: Sendable {
    private let total = Atomic<UInt64>(0)

    init() {}

    /// Adds `amount`.
    public func increment(by amount: UInt64 = 1) { total.wrappingAdd(amount, ordering: .relaxed) }

    /// The sum so far.
    public var value: UInt64 { total.load(ordering: .relaxed) }
}

/// A number that goes up and down.
public final class Gauge: Sendable {
    private let current = Atomic<Int64>(0)

    init() {}

    /// Replaces the number.
    public func set(_ value: Int64) { current.store(value, ordering: .relaxed) }

    /// Adds `amount`, which may be negative.
    public func add(_ amount: Int64) { current.wrappingAdd(amount, ordering: .relaxed) }

    /// The number now.
    public var value: Int64 { current.load(ordering: .relaxed) }
}
