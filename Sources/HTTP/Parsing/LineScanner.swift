/// Finds the end of a line and refuses bytes that no line may contain, at the first such byte.
///
/// Only CRLF ends a line. RFC 9112 §2.2 allows a recipient to accept a bare LF; this parser refuses it, because another
/// proxy may read it differently. Errors come in the order of the bytes, so that they do not depend on how the bytes
/// were split into reads.
enum LineScanner {
    enum Outcome {
        /// The index of the CR that ends the line.
        case line(end: Int)
        /// The line has not ended yet. The bytes before this index are checked and need not be scanned again.
        case needMore(scanned: Int)
    }

    /// - Parameters:
    ///   - scanned: the index to continue at.
    ///   - limit: the first index at which the line must have no content any more.
    ///   - tooLong: the error to throw at `limit`.
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
