/// Finds the end of a line, and refuses what may stand in no line, at the earliest byte that shows it.
///
/// Only CRLF ends a line. RFC 9112 §2.2 would let a recipient take a bare LF for one; we do not, because the next proxy
/// may read it otherwise. Errors come in the order of the bytes, so that they do not depend on how reads were cut.
enum LineScanner {
    enum Outcome {
        /// A line ends at this index, where its CR is.
        case line(end: Int)
        /// No end yet. Everything before this index is checked and need not be looked at again.
        case needMore(scanned: Int)
    }

    /// - Parameters:
    ///   - scanned: where to go on.
    ///   - limit: the first index at which the line may not have content any more.
    ///   - tooLong: what to say then.
    static func scan(
        _ bytes: Span<UInt8>, from scanned: Int, limit: Int, tooLong: ProtocolError
    ) throws(ProtocolError) -> Outcome {
        let bound = min(bytes.count, limit)
        var index = scanned
        while index + 8 <= bound {
            let controls = controls(bytes, at: index)
            guard controls != 0 else {
                index += 8
                continue
            }
            index += controls.trailingZeroBitCount / 8
            guard bytes[index] == Grammar.tab else { break }
            index += 1
        }
        while index < bound, !Grammar.isForbiddenControl(bytes[index]) { index += 1 }
        guard index < bytes.count else { return .needMore(scanned: index) }
        let byte = bytes[index]
        switch byte {
        case Grammar.carriageReturn:
            guard index + 1 < bytes.count else { return .needMore(scanned: index) }
            guard bytes[index + 1] == Grammar.lineFeed else { throw .bareCarriageReturn }
            return .line(end: index)
        case Grammar.lineFeed: throw .bareLineFeed
        default: throw Grammar.isForbiddenControl(byte) ? .controlCharacter : tooLong
        }
    }

    /// Looks at eight bytes at once. The lowest bit of the answer lies in the first byte that is below 0x20 or is 0x7F;
    /// bits above it mean nothing. 0 if there is no such byte.
    ///
    /// A byte of `word &- n` borrows into its top bit when it is less than n; `& ~word` leaves out bytes that had the top
    /// bit before, so that obs-text is no hit. A borrow reaches the next byte only behind a true hit.
    @inline(__always)
    private static func controls(_ bytes: Span<UInt8>, at index: Int) -> UInt64 {
        // The load checks the bounds, and any eight bytes are a valid UInt64.
        let loaded = unsafe bytes.bytes.unsafeLoadUnaligned(fromByteOffset: index, as: UInt64.self)
        let word = UInt64(littleEndian: loaded)
        let ones: UInt64 = 0x0101_0101_0101_0101
        let delete = word ^ (ones &* 0x7F)
        let below = (word &- ones &* 0x20) & ~word
        return (below | (delete &- ones) & ~delete) & (ones &* 0x80)
    }
}
