internal import Cryptography
internal import Locks

/// Remembers what was presented, for as long as it could be presented again, in a bounded memory: proofs of possession
/// (RFC 9449 section 11.1).
///
/// Let only what was checked otherwise, and is about to have an effect, get here: then a stranger fills nothing (`ProofOfPossession`).
///
/// Entries lie in buckets by the time at which they stop to matter, so that what is over goes as a whole. When the memory is
/// full, the bucket that would go next goes early, and what would have lain in it is refused from then on: under a flood the
/// time for which something can be presented grows shorter, and nothing passes twice.
///
/// What is dated ahead lies in the last buckets, and a flood of it would push out what is made now. So it gets a quarter of the
/// memory at most: the quarter that lies ahead and the one that lay ahead until now leave half of it for the present.
public final class ReplayCache: Sendable {
    /// What presenting something came to.
    public enum Finding: Hashable, Sendable {
        /// It was not presented before, and is remembered now.
        case fresh
        /// It was presented before.
        case repeated
        /// Nobody can tell any more: it is treated as too old.
        case forgotten
        /// It is dated ahead, as too much else is: it can be presented when its time has come.
        case crowdedOut
    }

    private struct State {
        /// By number: what stops to matter in the same span of time.
        var buckets: [Int64: Set<SIMD2<UInt64>>] = [:]
        var count = 0
        /// The first bucket that is remembered.
        var first = Int64.min

        /// How much lies in the buckets after that one.
        func count(after last: Int64) -> Int {
            buckets.reduce(0) { $1.key > last ? $0 + $1.value.count : $0 }
        }
    }

    private let capacity: Int
    private let bucketSeconds: Int64
    /// More buckets than lie ahead of the present.
    private let bucketsAhead: Int64
    /// How long after it was presented the latest bucket ends of what is not dated ahead.
    private let present: Duration
    private let state = Locked(State())

    /// Remembers up to `capacity` entries (48 bytes each, or a little more) of what can be presented for no longer than
    /// `longest`, and the last `lead` of that only if it is dated ahead. One of the `buckets` into which the time is cut is what a
    /// flood can cost at once.
    public init(capacity: Int = 100_000, longest: Duration, lead: Duration = .zero, buckets: Int64 = 16) {
        self.capacity = capacity
        bucketSeconds = max(1, longest.wholeSeconds / buckets)
        bucketsAhead = longest.wholeSeconds / bucketSeconds + 2
        present = longest - lead
    }

    /// How many are remembered.
    public var count: Int { state.withLock { $0.count } }

    /// Presents what its owner calls `id`, and could present until just before `end`. The owner's name holds no NUL.
    public func present(_ id: String, of owner: String, until end: Instant, at now: Instant) -> Finding {
        let entry = Self.entry(id, of: owner)
        let bucket = number(end)
        return state.withLock { state in
            // No flood moves the first bucket so far: the clock was ahead, and has been set back.
            if state.first > number(now) + bucketsAhead { state.first = number(now) }
            discard(&state, before: number(now))
            if bucket < state.first { return .forgotten }
            if state.buckets[bucket]?.contains(entry) == true { return .repeated }
            let last = number(now + present)
            if bucket > last, state.count(after: last) >= capacity / 4 { return .crowdedOut }
            while state.count >= capacity, let oldest = state.buckets.keys.min() {
                discard(&state, before: oldest + 1)
                if bucket < state.first { return .forgotten }
            }
            state.buckets[bucket, default: []].insert(entry)
            state.count += 1
            return .fresh
        }
    }

    private static func entry(_ id: String, of owner: String) -> SIMD2<UInt64> {
        let digest = sha256(Array("\(owner)\0\(id)".utf8))
        return SIMD2(word(digest[..<8]), word(digest[8..<16]))
    }

    private func discard(_ state: inout State, before first: Int64) {
        guard first > state.first else { return }
        state.first = first
        for (number, entries) in state.buckets where number < first {
            state.count -= entries.count
            state.buckets[number] = nil
        }
    }

    private func number(_ instant: Instant) -> Int64 { instant.secondsSinceEpoch / bucketSeconds }

    private static func word(_ bytes: ArraySlice<UInt8>) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }
}
