/// `chunk-ext = *( BWS ";" BWS chunk-ext-name [ BWS "=" BWS chunk-ext-val ] )` (RFC 9112 §7.1.1).
///
/// No extension is known, so all are ignored. They are validated first, because another party could read a size with
/// malformed text behind it as a different size.
enum ChunkExtension {
    static func check(_ line: Span<UInt8>, from start: Int) throws(ProtocolError) {
        var index = start
        while index < line.count {
            skipBlanks(line, &index)
            guard index < line.count, line[index] == UInt8(ascii: ";") else {
                throw index == start || index == line.count ? .malformedChunkSize : .malformedChunkExtension
            }
            index += 1
            skipBlanks(line, &index)
            try skipToken(line, &index)
            let nameEnd = index
            skipBlanks(line, &index)
            guard index < line.count, line[index] == UInt8(ascii: "=") else {
                // Blanks after the name belong to the next extension, if there is one.
                index = nameEnd
                continue
            }
            index += 1
            skipBlanks(line, &index)
            if index < line.count, line[index] == UInt8(ascii: "\"") {
                try skipQuotedString(line, &index)
            } else {
                try skipToken(line, &index)
            }
        }
    }

    private static func skipBlanks(_ line: Span<UInt8>, _ index: inout Int) {
        while index < line.count, Grammar.isBlank(line[index]) { index += 1 }
    }

    private static func skipToken(_ line: Span<UInt8>, _ index: inout Int) throws(ProtocolError) {
        let start = index
        while index < line.count, Grammar.isTokenCharacter(line[index]) { index += 1 }
        guard index > start else { throw .malformedChunkExtension }
    }

    /// Skips a quoted string (RFC 9110 §5.6.4). The scanner has refused control characters, so a backslash may precede
    /// any remaining byte.
    private static func skipQuotedString(_ line: Span<UInt8>, _ index: inout Int) throws(ProtocolError) {
        index += 1
        while index < line.count, line[index] != UInt8(ascii: "\"") {
            index += line[index] == UInt8(ascii: "\\") ? 2 : 1
        }
        guard index < line.count else { throw .malformedChunkExtension }
        index += 1
    }
}
