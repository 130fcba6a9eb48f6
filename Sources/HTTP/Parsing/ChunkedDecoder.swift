/// Decoder of the chunked transfer coding (RFC 9112 §7.1). It keeps its state between reads, so the caller may drop the
/// bytes that were decoded.
struct ChunkedDecoder {
    private enum Step {
        /// At `chunk-size [ chunk-ext ] CRLF`.
        case size
        /// Within the data of a chunk; the value is the number of bytes that are missing.
        case data(Int)
        /// At the CRLF after the data.
        case dataEnd
        /// In the trailer section, at a field line or at the CRLF that ends the section.
        case trailer
    }

    /// The highest number of digits of a size, with leading zeros: 64 bits.
    private static let maximumSizeDigits = 16

    private var step = Step.size
    /// The number of bytes of the current line that were scanned already.
    private var scanned = 0
    private var extensionBytes = 0
    private var trailerBytes = 0
    private var trailerCount = 0

    /// Decodes `buffer` from `position`, which advances over the decoded bytes, and appends data to `body`. Returns
    /// true at the end of the content.
    mutating func decode(
        _ buffer: [UInt8], _ position: inout Int, into body: inout [UInt8], limits: Limits
    ) throws(ProtocolError) -> Bool {
        while true {
            switch step {
            case .size:
                let limit = position + Self.maximumSizeDigits + limits.chunkExtensionBytes - extensionBytes
                guard let line = try nextLine(buffer, &position, limit: limit, tooLong: .chunkExtensionsTooLong) else {
                    return false
                }
                let size = try chunkSize(buffer.span.extracting(line), limits: limits)
                guard size <= UInt64(max(0, limits.body - body.count)) else { throw .bodyTooLarge }
                step = size == 0 ? .trailer : .data(Int(size))
            case .data(let remaining):
                let count = min(remaining, buffer.count - position)
                body.append(contentsOf: buffer[position..<position + count])
                position += count
                guard count == remaining else {
                    step = .data(remaining - count)
                    return false
                }
                step = .dataEnd
            case .dataEnd:
                guard position < buffer.count else { return false }
                guard buffer[position] == Grammar.carriageReturn else { throw .malformedChunkEnd }
                guard position + 1 < buffer.count else { return false }
                guard buffer[position + 1] == Grammar.lineFeed else { throw .malformedChunkEnd }
                position += 2
                step = .size
            case .trailer:
                let limit = position + max(0, limits.trailerBytes - trailerBytes)
                guard let line = try nextLine(buffer, &position, limit: limit, tooLong: .fieldsTooLarge) else {
                    return false
                }
                if line.isEmpty { return true }
                // RFC 9110 §6.5.1: trailer fields must not be merged into the fields of the head. No handler uses them,
                // so they are checked and dropped.
                _ = try FieldLine.parse(buffer.span, line, base: 0)
                trailerBytes += line.count + 2
                trailerCount += 1
                guard trailerCount <= limits.trailerCount else { throw .tooManyFields }
            }
        }
    }

    /// Returns the next complete line and moves `position` past it.
    private mutating func nextLine(
        _ buffer: [UInt8], _ position: inout Int, limit: Int, tooLong: ProtocolError
    ) throws(ProtocolError) -> Range<Int>? {
        let start = position
        switch try LineScanner.scan(buffer.span, from: start + scanned, limit: limit, tooLong: tooLong) {
        case .needMore(let index):
            scanned = index - start
            return nil
        case .line(let end):
            scanned = 0
            position = end + 2
            return start..<end
        }
    }

    /// Parses `chunk-size = 1*HEXDIG`, then extensions: no sign, no `0x`, no blank at either end.
    private mutating func chunkSize(_ line: Span<UInt8>, limits: Limits) throws(ProtocolError) -> UInt64 {
        var size: UInt64 = 0
        var digits = 0
        while digits < line.count, let digit = Grammar.hexValue(line[digits]) {
            guard digits < Self.maximumSizeDigits else { throw .malformedChunkSize }
            size = size << 4 | UInt64(digit)
            digits += 1
        }
        guard digits > 0 else { throw .malformedChunkSize }
        guard digits < line.count else { return size }
        extensionBytes += line.count - digits
        guard extensionBytes <= limits.chunkExtensionBytes else { throw .chunkExtensionsTooLong }
        try ChunkExtension.check(line, from: digits)
        return size
    }
}
