/// `field-line = field-name ":" OWS field-value OWS` (RFC 9112 §5).
enum FieldLine {
    /// Returns the ranges of name and value, as offsets from `base`.
    ///
    /// - Parameter line: not empty, without its line end. The scanner has refused control characters, so every
    ///   remaining byte
    ///   is allowed in a value: VCHAR, SP, HTAB and obs-text (RFC 9110 §5.5).
    static func parse(_ bytes: Span<UInt8>, _ line: Range<Int>, base: Int) throws(ProtocolError) -> Fields.Entry {
        var index = line.lowerBound
        // RFC 9112 §5.2 and §2.2: a folded line, or white space between the request line and the first field.
        guard !Grammar.isBlank(bytes[index]) else { throw .foldedField }
        while index < line.upperBound, Grammar.isTokenCharacter(bytes[index]) { index += 1 }
        guard index > line.lowerBound, index < line.upperBound else { throw .malformedFieldName }
        guard bytes[index] == UInt8(ascii: ":") else {
            // RFC 9112 §5.1: "A server MUST reject, with a response status code of 400 (Bad Request), any received
            // request message that contains whitespace between a header field name and colon."
            throw Grammar.isBlank(bytes[index]) ? .blankBeforeColon : .malformedFieldName
        }
        let value = Grammar.trimmed(bytes, index + 1..<line.upperBound)
        return Fields.Entry(
            name: line.lowerBound - base..<index - base,
            value: value.lowerBound - base..<value.upperBound - base)
    }
}
