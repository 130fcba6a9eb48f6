/// Parser of `request-target` (RFC 9112 §3.2) with the exact grammar of RFC 3986: no raw byte that it does not list, no
/// fragment, no `%` without two hexadecimal digits.
enum TargetParser {
    /// Returns the target, and the authority of an absolute target.
    ///
    /// - Parameter isSecure: whether an `https` target is allowed on this connection.
    static func parse(
        _ bytes: Span<UInt8>, method: Method, isSecure: Bool
    ) throws(ProtocolError) -> (target: RequestTarget, authority: String?) {
        guard method != .connect else {
            // authority-form: a valid one asks for a tunnel, which is not implemented.
            throw Authority.isValid(bytes, portRequired: true) ? .connectUnsupported : .malformedTarget
        }
        if bytes[0] == UInt8(ascii: "/") {
            return (try pathAndQuery(bytes, form: .origin), nil)
        }
        if bytes.count == 1, bytes[0] == UInt8(ascii: "*") {
            guard method == .options else { throw .targetFormMismatch }
            return (.asterisk, nil)
        }
        return try absolute(bytes, method: method, isSecure: isSecure)
    }

    /// Parses `absolute-form` (RFC 9112 §3.2.2).
    private static func absolute(
        _ bytes: Span<UInt8>, method: Method, isSecure: Bool
    ) throws(ProtocolError) -> (target: RequestTarget, authority: String?) {
        let authorityStart: Int
        let isHTTPS: Bool
        if starts(bytes, with: "http://") {
            (authorityStart, isHTTPS) = (7, false)
        } else if starts(bytes, with: "https://") {
            (authorityStart, isHTTPS) = (8, true)
        } else {
            throw .malformedTarget
        }
        var authorityEnd = authorityStart
        while authorityEnd < bytes.count, bytes[authorityEnd] != UInt8(ascii: "/"),
            bytes[authorityEnd] != UInt8(ascii: "?")
        { authorityEnd += 1 }
        let authority = bytes.extracting(authorityStart..<authorityEnd)
        guard Authority.isValid(authority) else { throw .malformedHost }
        let target = try pathAndQuery(bytes.extracting(authorityEnd..<bytes.count), form: .absolute)
        // RFC 9110 §7.4: "a request for an "https" resource MUST be rejected unless it has been received over a connection
        // that has been secured".
        guard isSecure || !isHTTPS else { throw .misdirected }
        // RFC 9112 §3.2.4: `OPTIONS` with an absolute target without path and query means the asterisk form.
        let isServerWide = method == .options && authorityEnd == bytes.count
        return (isServerWide ? .asterisk : target, String(ascii: authority))
    }

    /// Returns true if `bytes` begin with this scheme, case-insensitively (RFC 9110 §4.2.3), and go on after it.
    private static func starts(_ bytes: Span<UInt8>, with scheme: String) -> Bool {
        let wanted = scheme.utf8.span
        return bytes.count > wanted.count
            && Grammar.equalsIgnoringCase(bytes.extracting(0..<wanted.count), wanted)
    }

    /// Parses `path-abempty [ "?" query ]`. An absolute target without a path means `/` (RFC 9110 §4.2.3).
    private static func pathAndQuery(
        _ bytes: Span<UInt8>, form: RequestTarget.Form
    ) throws(ProtocolError) -> RequestTarget {
        var pathEnd = bytes.count
        var index = 0
        while index < bytes.count {
            let byte = bytes[index]
            if byte == UInt8(ascii: "%") {
                guard index + 2 < bytes.count, Grammar.hexValue(bytes[index + 1]) != nil,
                    Grammar.hexValue(bytes[index + 2]) != nil
                else { throw .malformedTarget }
                index += 3
                continue
            }
            if byte == UInt8(ascii: "?"), pathEnd == bytes.count { pathEnd = index }
            guard Grammar.isQueryCharacter(byte) else { throw .malformedTarget }
            index += 1
        }
        return RequestTarget(
            form: form,
            path: pathEnd == 0 ? "/" : String(ascii: bytes.extracting(0..<pathEnd)),
            query: pathEnd < bytes.count ? String(ascii: bytes.extracting(pathEnd + 1..<bytes.count)) : nil)
    }
}
