internal import Locks

/// A token bucket for each of many keys, in memory that never grows.
///
/// A bucket is one number, the instant at which it will be full again (the generic cell rate algorithm): taking a token
/// moves it by the time that one token takes to grow back. A key has its place in one of many small sets, found by a hash
/// that is seeded anew in each process, so that nobody can aim at a set. In a full set the newcomer takes the place of the
/// bucket that is full soonest, which is the one that says least. Who wants to push out a bucket that has been emptied has
/// to empty all others of its set as well, and cannot know which those are: of the whole table, then, one token at a time.
final class TokenBuckets: Sendable {
    private struct Bucket {
        /// The key's hash; 0 while nobody is here.
        var tag: UInt64 = 0
        /// When it is full again, in nanoseconds.
        var fullAt: Int64 = 0
    }

    private static let setCount = 2048
    private static let setSize = 8
    static let bucketCount = setCount * setSize

    /// Nanoseconds in which one token grows back.
    private let interval: Int64
    /// Nanoseconds in which an empty bucket fills.
    private let capacity: Int64
    /// Empty until the first token is taken: a server that refuses nobody spends nothing.
    private let buckets = Locked<[Bucket]>([])

    /// Buckets of `count` tokens that fill within `period`; nil for 0, which means no limit.
    init?(_ count: Int, within period: Duration) {
        guard count > 0 else { return nil }
        capacity = period.components.seconds * 1_000_000_000
        interval = capacity / Int64(count)
    }

    /// Buckets of `perMinute` tokens that fill within a minute.
    convenience init?(perMinute: Int) { self.init(perMinute, within: .seconds(60)) }

    /// Nil if there is a token of `key`, or the nanoseconds after which there will be one.
    func wait(for key: some Hashable, at now: Int64) -> Int64? {
        let hash = Self.hash(key)
        return buckets.withLock { buckets in
            guard !buckets.isEmpty else { return nil }
            let bucket = buckets[Self.place(of: hash, in: buckets)]
            let left = bucket.fullAt + interval - now - capacity
            return bucket.tag == hash && left > 0 ? left : nil
        }
    }

    /// Takes a token of `key`. Nil, or the nanoseconds after which there will be one.
    func take(_ key: some Hashable, at now: Int64) -> Int64? {
        let hash = Self.hash(key)
        return buckets.withLock { buckets in
            if buckets.isEmpty { buckets = Array(repeating: Bucket(), count: Self.bucketCount) }
            let place = Self.place(of: hash, in: buckets)
            let isKnown = buckets[place].tag == hash
            let fullAt = max(isKnown ? buckets[place].fullAt : now, now) + interval
            // The last token counts although rounding has made the interval a little short.
            guard fullAt - now <= capacity else { return fullAt - now - capacity }
            buckets[place] = Bucket(tag: hash, fullAt: fullAt)
            return nil
        }
    }

    /// Gives a token of `key` back: what it was taken for has turned out to be harmless.
    func giveBack(_ key: some Hashable) {
        let hash = Self.hash(key)
        buckets.withLock { buckets in
            guard !buckets.isEmpty else { return }
            let place = Self.place(of: hash, in: buckets)
            if buckets[place].tag == hash { buckets[place].fullAt -= interval }
        }
    }

    /// Where the bucket is, or the least interesting one of its set.
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
