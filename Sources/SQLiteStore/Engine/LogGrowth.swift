/// Says when the write-ahead log has grown long because a reader keeps it from being copied and restarted: a backup, an
/// examination, another program. The log cannot be bounded then, because a reader needs its state to the end.
struct LogGrowth {
    /// The bytes of a page in the log, with its header.
    private static let frameBytes: Int64 = 4096 + 24

    private let limit: Int64
    /// The length at which it says so next.
    private var next: Int64

    /// The growth of a log of which up to `limit` bytes are usual.
    init(limit: Int64) { (self.limit, next) = (limit, limit) }

    /// Records that the log has `frames` pages, of which `left` could not be copied. Returns its length in bytes if it has passed
    /// the limit, and again each time it has doubled.
    mutating func noted(frames: Int, left: Int) -> Int64? {
        if left <= 0 {
            next = limit
            return nil
        }
        let bytes = Int64(frames) * Self.frameBytes
        guard bytes >= next else { return nil }
        next = 2 * bytes
        return bytes
    }
}
