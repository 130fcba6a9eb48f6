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
            let controls = Grammar.controls(bytes, at: index)
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
}
