/// `request-line = method SP request-target SP HTTP-version` (RFC 9112 §3), exactly so: one space, nothing around.
struct RequestLine {
    let method: Method
    let target: RequestTarget
    /// The authority of an absolute target, which replaces the `Host` field (RFC 9112 §3.2.2).
    let authority: String?
    let version: Version

    /// - Parameters:
    ///   - line: without its line end, at most `limits.requestLine` long, free of controls but HTAB.
    ///   - isSecure: whether an `https` target may be asked for here.
    init(parsing line: Span<UInt8>, limits: Limits, isSecure: Bool) throws(ProtocolError) {
        guard let methodEnd = Self.firstSpace(line, from: 0),
            let targetEnd = Self.firstSpace(line, from: methodEnd + 1),
            methodEnd > 0, targetEnd > methodEnd + 1,
            Self.firstSpace(line, from: targetEnd + 1) == nil
        else { throw .malformedRequestLine }
        let method = line.extracting(0..<methodEnd)
        guard Grammar.isToken(method) else { throw .malformedMethod }
        guard methodEnd <= limits.method else { throw .methodTooLong }
        self.method = Method(rawValue: String(ascii: method))
        version = try Self.version(line.extracting(targetEnd + 1..<line.count))
        let parsed = try TargetParser.parse(
            line.extracting(methodEnd + 1..<targetEnd), method: self.method, isSecure: isSecure)
        target = parsed.target
        authority = parsed.authority
    }

    /// The error for a line that did not end in time: a method without end is not a long target (RFC 9112 §3).
    static func tooLong(_ start: Span<UInt8>, limits: Limits) -> ProtocolError {
        let methodEnd = firstSpace(start, from: 0) ?? start.count
        return methodEnd > limits.method ? .methodTooLong : .requestLineTooLong
    }

    /// `HTTP-version = HTTP-name "/" DIGIT "." DIGIT`, case-sensitive (RFC 9112 §2.3).
    ///
    /// 1.2 to 1.9 do not exist; RFC 9110 §2.5 has a recipient process a higher minor version as the highest that it
    /// knows, and framing is the same within a major version, so nothing is ambiguous about it.
    private static func version(_ bytes: Span<UInt8>) throws(ProtocolError) -> Version {
        guard bytes.count == 8, bytes[0] == UInt8(ascii: "H"), bytes[1] == UInt8(ascii: "T"),
            bytes[2] == UInt8(ascii: "T"), bytes[3] == UInt8(ascii: "P"), bytes[4] == UInt8(ascii: "/"),
            Grammar.isDigit(bytes[5]), bytes[6] == UInt8(ascii: "."), Grammar.isDigit(bytes[7])
        else { throw .malformedVersion }
        guard bytes[5] == UInt8(ascii: "1") else { throw .unsupportedVersion }
        return bytes[7] == UInt8(ascii: "0") ? .http10 : .http11
    }

    private static func firstSpace(_ bytes: Span<UInt8>, from start: Int) -> Int? {
        var index = start
        while index < bytes.count {
            if bytes[index] == Grammar.space { return index }
            index += 1
        }
        return nil
    }
}

extension String {
    /// Bytes that were found to be ASCII.
    init(ascii bytes: Span<UInt8>) {
        self = unsafe bytes.withUnsafeBufferPointer { unsafe String(decoding: $0, as: UTF8.self) }
    }
}
