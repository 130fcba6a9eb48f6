/// Where the content of a request ends (RFC 9112 §6). `decide` is the only function that decides it.
enum BodyFraming: Equatable {
    /// There is no content.
    case none
    /// The number of bytes; never 0.
    case length(Int)
    /// The chunked coding marks the end.
    case chunked

    static func decide(
        _ fields: borrowing Fields, _ decisive: DecisiveFields, version: Version, limits: Limits
    ) throws(ProtocolError) -> BodyFraming {
        guard let coding = decisive.transferEncoding.first else {
            guard let length = decisive.contentLength.first else { return .none }
            guard !decisive.contentLength.isRepeated else { throw .repeatedContentLength }
            let count = try contentLength(fields.bytes.span.extracting(fields.entries[length].value))
            guard count <= limits.body else { throw .bodyTooLarge }
            return count == 0 ? .none : .length(count)
        }
        // RFC 9112 §6.1: "A server MAY reject a request that contains both". Such a message "might indicate an attempt
        // to perform request smuggling".
        guard decisive.contentLength.first == nil else { throw .conflictingFraming }
        // RFC 9112 §6.1: in HTTP/1.0 "the framing is faulty".
        guard version == .http11 else { throw .transferEncodingInHTTP10 }
        guard !decisive.transferEncoding.isRepeated else { throw .malformedTransferEncoding }
        try requireChunked(fields.bytes.span, fields.entries[coding].value)
        return .chunked
    }

    /// Parses `Content-Length = 1*DIGIT` (RFC 9110 §8.6). A list of equal lengths, which the RFC allows a recipient to
    /// repair, is refused.
    private static func contentLength(_ bytes: Span<UInt8>) throws(ProtocolError) -> Int {
        guard !bytes.isEmpty else { throw .malformedContentLength }
        var length = 0
        for index in bytes.indices {
            let byte = bytes[index]
            guard Grammar.isDigit(byte) else {
                throw byte == UInt8(ascii: ",") ? .repeatedContentLength : .malformedContentLength
            }
            let (product, tooBig) = length.multipliedReportingOverflow(by: 10)
            let (sum, tooBigNow) = product.addingReportingOverflow(Int(byte - 0x30))
            guard !tooBig, !tooBigNow else { throw .malformedContentLength }
            length = sum
        }
        return length
    }

    /// Requires `Transfer-Encoding = #transfer-coding` with `chunked` once, as the last member, in any case and without
    /// parameters (RFC 9112 §6.3 and §7), because otherwise the end of the content is unknown. Other codings before it
    /// are not implemented.
    private static func requireChunked(_ bytes: Span<UInt8>, _ value: Range<Int>) throws(ProtocolError) {
        var start = value.lowerBound
        var seenOther = false
        while true {
            var end = start
            while end < value.upperBound, bytes[end] != UInt8(ascii: ",") { end += 1 }
            let member = bytes.extracting(Grammar.trimmed(bytes, start..<end))
            let isLast = end == value.upperBound
            guard isLast == Grammar.equalsIgnoringCase(member, "chunked".utf8.span), isLast || isCoding(member) else {
                throw .malformedTransferEncoding
            }
            guard !isLast else { break }
            seenOther = true
            start = end + 1
        }
        guard !seenOther else { throw .unknownTransferCoding }
    }

    /// Returns true if a member names a coding: a token, optionally with parameters, which are ignored.
    private static func isCoding(_ member: Span<UInt8>) -> Bool {
        var index = 0
        while index < member.count, Grammar.isTokenCharacter(member[index]) { index += 1 }
        guard index > 0 else { return false }
        while index < member.count, Grammar.isBlank(member[index]) { index += 1 }
        return index == member.count || member[index] == UInt8(ascii: ";")
    }
}
