/// SplitMix64: the same seed gives the same history again.
public struct SeededGenerator: RandomNumberGenerator, Sendable {
    private var state: UInt64

    /// A generator of the numbers that belong to `seed`.
    public init(seed: UInt64) { state = seed }

    /// The next number.
    public mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }
}

extension SeededGenerator {
    /// The seeds from 1, and one that is new in every run. A failure names its seed, which plays the same again.
    public static func seeds(_ count: UInt64) -> [UInt64] { Array(1..<count) + [newSeed] }

    private static let newSeed = UInt64.random(in: 1_000...999_999_999)
}
