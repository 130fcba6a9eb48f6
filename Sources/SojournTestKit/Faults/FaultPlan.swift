public import SojournClient

/// Decides what happens to each request.
public struct FaultPlan: Sendable {
    private let decide: @Sendable (HTTPMessage) -> Fault

    /// A plan that looks at each request. The URL of a request that `FaultProxy` shows is that of the proxy.
    public init(_ decide: @escaping @Sendable (HTTPMessage) -> Fault) { self.decide = decide }

    /// No faults.
    public static let none = FaultPlan { _ in .pass }

    /// The faults of the list, one for each request, and then `rest`.
    public static func script(_ faults: [Fault], then rest: Fault = .pass) -> FaultPlan {
        let left = Guarded(faults[...])
        return FaultPlan { _ in left.withLock { $0.popFirst() } ?? rest }
    }

    /// Random faults: equal seeds give equal faults.
    ///
    /// - Parameters:
    ///   - share: how many of a hundred requests meet a fault.
    ///   - delayMax: the longest delay.
    public static func seed(_ seed: UInt64, share: Int = 50, delayMax: Duration = .seconds(2)) -> FaultPlan {
        let generator = Guarded(SeededGenerator(seed: seed))
        return FaultPlan { _ in generator.withLock { .random(share: share, delayMax: delayMax, using: &$0) } }
    }

    /// What happens to `request`.
    public func fault(for request: HTTPMessage) -> Fault { decide(request) }
}

extension Fault {
    /// A random fault in `share` of a hundred cases, else `pass`.
    public static func random(
        share: Int, delayMax: Duration, using generator: inout some RandomNumberGenerator
    ) -> Fault {
        guard Int.random(in: 0..<100, using: &generator) < share else { return .pass }
        let delay = delayMax * Double.random(in: 0...1, using: &generator)
        switch Int.random(in: 0..<12, using: &generator) {
        case 0, 1: return .loseRequest
        case 2, 3, 4: return .loseAnswer
        case 5: return .delay(delay)
        case 6: return .delayAnswer(delay)
        case 7: return .duplicate(after: delay)
        case 8: return .status(Bool.random(using: &generator) ? 503 : 502)
        case 9: return .page("<html><body>Please accept our terms of use.</body></html>")
        case 10: return .cut(afterBytes: Int.random(in: 0..<200, using: &generator))
        default: return .wrongDate(hours: Int.random(in: -48...48, using: &generator))
        }
    }
}

/// A generator of random numbers that a seed determines (SplitMix64).
public struct SeededGenerator: RandomNumberGenerator, Sendable {
    private var state: UInt64

    /// A generator that begins at `seed`.
    public init(seed: UInt64) { state = seed }

    /// The next number.
    public mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var word = state
        word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
        word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
        return word ^ (word >> 31)
    }
}
