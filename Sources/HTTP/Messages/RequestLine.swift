/// `request-line = method SP request-target SP HTTP-version` (RFC 9112 §3), exactly: single spaces, no other white
/// space.
struct RequestLine {
    let method: Method
    let target: RequestTarget
    /// The authority of an absolute target, which replaces the `Host` field (RFC 9112 §3.2.2).
    let authority: String?
    let version: Version

    /// - Parameters:
    ///   - line: without its line end, at most `limits.requestLine` long, free of control characters except HTAB.
    ///   - isSecure: whether an `https` target is allowed on this connection.
    init(parsing line: Span<UInt8>, limits: Limits, isSecure: Bool) throws(ProtocolError) {
        if let plain = Self(plain: line) {
            self = plain
        } else {
            try self.init(exactly: line, limits: limits, isSecure: isSecure)
        }
    }

    /// Fast path for the line that nearly every client sends: a known method, a path without escapes, HTTP/1.1. It
    /// reads each byte once and returns nil for everything else, which `init(exactly:limits:isSecure:)` then parses.
    private init?(plain line: Span<UInt8>) {
        let versionStart = line.count - 8
        guard versionStart > 4, let spaceBefore = Self.firstSpace(line, from: 0, to: 8),
            line[spaceBefore + 1] == UInt8(ascii: "/"), line[versionStart - 1] == Grammar.space,
            Self.has(line, at: versionStart, "HTTP/1.1")
        else { return nil }
        let method = Method(token: line.extracting(0..<spaceBefore))
        guard method.isKnown, method != .connect else { return nil }
        let target = spaceBefore + 1..<versionStart - 1
        var pathEnd = target.upperBound
        for index in target {
            let byte = line[index]
            guard Grammar.isQueryCharacter(byte), byte != UInt8(ascii: "%") else { return nil }
            if byte == UInt8(ascii: "?"), pathEnd == target.upperBound { pathEnd = index }
        }
        self.method = method
        self.target = RequestTarget(
            path: String(ascii: line.extracting(target.lowerBound..<pathEnd)),
            query: pathEnd < target.upperBound
                ? String(ascii: line.extracting(pathEnd + 1..<target.upperBound)) : nil)
        authority = nil
        version = .http11
    }

    private init(exactly line: Span<UInt8>, limits: Limits, isSecure: Bool) throws(ProtocolError) {
        guard let methodEnd = Self.firstSpace(line, from: 0),
            let targetEnd = Self.firstSpace(line, from: methodEnd + 1),
            methodEnd > 0, targetEnd > methodEnd + 1,
            Self.firstSpace(line, from: targetEnd + 1) == nil
        else { throw .malformedRequestLine }
        let method = line.extracting(0..<methodEnd)
        guard Grammar.isToken(method) else { throw .malformedMethod }
        guard methodEnd <= limits.method else { throw .methodTooLong }
        self.method = Method(token: method)
        version = try Self.version(line.extracting(targetEnd + 1..<line.count))
        let parsed = try TargetParser.parse(
            line.extracting(methodEnd + 1..<targetEnd), method: self.method, isSecure: isSecure)
        target = parsed.target
        authority = parsed.authority
    }

    /// Returns the error for a line that exceeds its limit. A method that never ends is not a long target (RFC 9112
    /// §3).
    static func tooLong(_ start: Span<UInt8>, limits: Limits) -> ProtocolError {
        let methodEnd = firstSpace(start, from: 0) ?? start.count
        return methodEnd > limits.method ? .methodTooLong : .requestLineTooLong
    }

    /// Parses `HTTP-version = HTTP-name "/" DIGIT "." DIGIT`, case-sensitively (RFC 9112 §2.3).
    ///
    /// Versions 1.2 to 1.9 do not exist. RFC 9110 §2.5 says to process a higher minor version as the highest known one,
    /// and framing is the same within a major version, so nothing is ambiguous.
    private static func version(_ bytes: Span<UInt8>) throws(ProtocolError) -> Version {
        guard bytes.count == 8, bytes[0] == UInt8(ascii: "H"), bytes[1] == UInt8(ascii: "T"),
            bytes[2] == UInt8(ascii: "T"), bytes[3] == UInt8(ascii: "P"), bytes[4] == UInt8(ascii: "/"),
            Grammar.isDigit(bytes[5]), bytes[6] == UInt8(ascii: "."), Grammar.isDigit(bytes[7])
        else { throw .malformedVersion }
        guard bytes[5] == UInt8(ascii: "1") else { throw .unsupportedVersion }
        return bytes[7] == UInt8(ascii: "0") ? .http10 : .http11
    }

    /// Returns true if `text` starts at an index.
    @inline(__always)
    private static func has(_ bytes: Span<UInt8>, at start: Int, _ text: StaticString) -> Bool {
        for index in 0..<text.utf8CodeUnitCount where unsafe bytes[start + index] != text.utf8Start[index] {
            return false
        }
        return true
    }

    private static func firstSpace(_ bytes: Span<UInt8>, from start: Int, to end: Int = .max) -> Int? {
        var index = start
        while index < min(bytes.count, end) {
            if bytes[index] == Grammar.space { return index }
            index += 1
        }
        return nil
    }
}

extension String {
    /// Creates a string from bytes that are known to be ASCII.
    init(ascii bytes: Span<UInt8>) {
        self = unsafe bytes.withUnsafeBufferPointer { unsafe String(decoding: $0, as: UTF8.self) }
    }
}
