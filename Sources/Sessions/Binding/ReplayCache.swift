internal import Cryptography
internal import Locks

/// Remembers used proofs of possession (RFC 9449 section 11.1), in bounded memory, for as long as each could be used again.
///
/// Only proofs that passed all other checks and are about to have an effect may be presented here, so that strangers cannot
/// fill the memory (`ProofOfPossession`).
///
/// Entries stand in buckets by the time at which they expire, so that a bucket is discarded as a whole. When the memory is
/// full, the bucket that expires next is discarded early, and all entries of its time are refused from then on. A flood
/// therefore shortens the time for which a proof is accepted, and no proof is accepted twice.
///
/// Entries dated ahead stand in the last buckets, where a flood of them would evict current entries. They therefore get at most
/// a quarter of the memory. The quarter that is ahead and the one that was ahead until now leave half of the memory for current
/// entries.
public final class ReplayCache: Sendable {
    /// The result of presenting an entry.
    public enum Finding: Hashable, Sendable {
        /// The entry is new, and is remembered now.
        case fresh
        /// The entry was presented before.
        case repeated
        /// The entry was presented before by the same request, which may be repeated.
        case repeatedRequest
        /// The entry is as old as a discarded bucket, so that it may have been presented before. It counts as too old.
        case forgotten
        /// The entry is dated ahead, as are too many others. It can be presented when its time has come.
        case crowdedOut
    }

    private struct State {
        /// The entries by number of their bucket, each with the hash of the request that may be repeated, or 0.
        var buckets: [Int64: [SIMD2<UInt64>: UInt64]] = [:]
        var count = 0
        /// The number of the first bucket that was not discarded.
        var first = Int64.min

        /// The number of entries in the buckets after `last`.
        func count(after last: Int64) -> Int {
            buckets.reduce(0) { $1.key > last ? $0 + $1.value.count : $0 }
        }
    }

    private let capacity: Int
    private let bucketSeconds: Int64
    /// A number of buckets greater than the number of those that lie ahead of the present.
    private let bucketsAhead: Int64
    /// The longest time for which an entry that is not dated ahead can be presented.
    private let present: Duration
    private let state = Locked(State())

    /// Creates a cache of up to `capacity` entries, of up to 80 bytes each. An entry can be presented for at most
    /// `longest`, and for the last `lead` of that only if it is dated ahead. The time is divided into `buckets`, and a flood
    /// discards one of them at a time.
    public init(capacity: Int = 100_000, longest: Duration, lead: Duration = .zero, buckets: Int64 = 16) {
        self.capacity = capacity
        bucketSeconds = max(1, longest.wholeSeconds / buckets)
        bucketsAhead = longest.wholeSeconds / bucketSeconds + 2
        present = longest - lead
    }

    /// The number of remembered entries.
    public var count: Int { state.withLock { $0.count } }

    /// Presents the entry `id` of `owner`, which expires at `end`. `owner` must not contain NUL.
    ///
    /// - Parameter request: a hash of the request that presents it, if that request may be repeated; else 0.
    public func present(
        _ id: String, of owner: String, until end: Instant, at now: Instant, by request: UInt64 = 0
    ) -> Finding {
        let entry = Self.entry(id, of: owner)
        let bucket = number(end)
        return state.withLock { state in
            // A flood cannot move the first bucket so far: the clock was ahead and has been set back.
            if state.first > number(now) + bucketsAhead { state.first = number(now) }
            discard(&state, before: number(now))
            if bucket < state.first { return .forgotten }
            if let first = state.buckets[bucket]?[entry] {
                return first != 0 && first == request ? .repeatedRequest : .repeated
            }
            let last = number(now + present)
            if bucket > last, state.count(after: last) >= capacity / 4 { return .crowdedOut }
            while state.count >= capacity, let oldest = state.buckets.keys.min() {
                discard(&state, before: oldest + 1)
                if bucket < state.first { return .forgotten }
            }
            state.buckets[bucket, default: [:]][entry] = request
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
