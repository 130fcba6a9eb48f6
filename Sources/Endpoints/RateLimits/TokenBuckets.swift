internal import Locks

/// Token buckets, one for each key, in bounded memory.
///
/// A bucket is one number, the time at which it will be full again (generic cell rate algorithm). Taking a token moves this
/// time by the interval in which one token grows back.
///
/// A hash with a random seed per process assigns each key to one of many small sets, so that a caller cannot choose a set. In a
/// full set, a new key replaces the bucket that will be full soonest, because that bucket holds the least information. To evict
/// an empty bucket, an attacker has to empty all other buckets of its set as well. The set is unknown, so that this means the
/// whole table, one token at a time.
final class TokenBuckets: Sendable {
    private struct Bucket {
        /// The hash of the key; 0 in an unused bucket.
        var tag: UInt64 = 0
        /// The time at which the bucket is full, in nanoseconds of the stopwatch.
        var fullAt: Int64 = 0
    }

    private static let setCount = 2048
    private static let setSize = 8
    static let bucketCount = setCount * setSize

    /// The time in which one token grows back, in nanoseconds.
    private let interval: Int64
    /// The time in which an empty bucket fills, in nanoseconds.
    private let capacity: Int64
    /// The table is empty until the first token is taken, so that a server without refusals spends no memory.
    private let buckets = Locked<[Bucket]>([])

    /// Creates buckets of `count` tokens that fill within `period`; nil for a count of 0, which means no limit.
    init?(_ count: Int, within period: Duration) {
        guard count > 0 else { return nil }
        capacity = period.components.seconds * 1_000_000_000
        interval = capacity / Int64(count)
    }

    /// Creates buckets of `perMinute` tokens that fill within a minute.
    convenience init?(perMinute: Int) { self.init(perMinute, within: .seconds(60)) }

    /// Returns nil if `key` has a token, else the nanoseconds until the next token.
    func wait(for key: some Hashable, at now: Int64) -> Int64? {
        let hash = Self.hash(key)
        return buckets.withLock { buckets in
            guard !buckets.isEmpty else { return nil }
            let bucket = buckets[Self.place(of: hash, in: buckets)]
            let left = bucket.fullAt + interval - now - capacity
            return bucket.tag == hash && left > 0 ? left : nil
        }
    }

    /// Takes a token of `key`. Returns nil, or the nanoseconds until the next token.
    func take(_ key: some Hashable, at now: Int64) -> Int64? {
        let hash = Self.hash(key)
        return buckets.withLock { buckets in
            if buckets.isEmpty { buckets = Array(repeating: Bucket(), count: Self.bucketCount) }
            let place = Self.place(of: hash, in: buckets)
            let isKnown = buckets[place].tag == hash
            let fullAt = max(isKnown ? buckets[place].fullAt : now, now) + interval
            // This comparison admits the last token although rounding makes `interval` a little too short.
            guard fullAt - now <= capacity else { return fullAt - now - capacity }
            buckets[place] = Bucket(tag: hash, fullAt: fullAt)
            return nil
        }
    }

    /// Gives a token of `key` back, because the call was harmless.
    func giveBack(_ key: some Hashable) {
        let hash = Self.hash(key)
        buckets.withLock { buckets in
            guard !buckets.isEmpty else { return }
            let place = Self.place(of: hash, in: buckets)
            if buckets[place].tag == hash { buckets[place].fullAt -= interval }
        }
    }

    /// The index of the bucket with `hash`, or of the bucket of its set that will be full soonest.
    private static func place(of hash: UInt64, in buckets: [Bucket]) -> Int {
        let first = Int(hash % UInt64(setCount)) * setSize
        var least = first
        for place in first..<first + setSize {
            if buckets[place].tag == hash { return place }
            if buckets[place].fullAt < buckets[least].fullAt { least = place }
        }
        return least
    }

    private static func hash(_ key: some Hashable) -> UInt64 {
        var hasher = Hasher()
        hasher.combine(key)
        return max(1, UInt64(bitPattern: Int64(hasher.finalize())))
    }
}
