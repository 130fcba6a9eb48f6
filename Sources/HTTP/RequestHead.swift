/// What a complete head says about the request as a whole.
struct RequestHead {
    /// The request without its content.
    let request: Request
    let framing: BodyFraming
    /// Whether the sender waits for `100 Continue` before it sends the content.
    let expectsContinue: Bool

    init(line: RequestLine, fields: Fields, limits: Limits) throws(ProtocolError) {
        try Self.checkHost(fields, version: line.version)
        framing = try BodyFraming.decide(version: line.version, fields: fields, limits: limits)
        // No content follows, so nothing can be waited for (RFC 9110 §10.1.1).
        let isAsked = try Self.isContinueExpected(fields, version: line.version)
        expectsContinue = isAsked && framing != .none
        var request = Request(method: line.method, target: line.target, version: line.version, fields: fields)
        if let authority = line.authority { request.fields.set("Host", authority) }
        self.request = request
    }

    /// RFC 9112 §3.2: exactly one valid `Host` in HTTP/1.1, also beside an absolute target; at most one in HTTP/1.0.
    private static func checkHost(_ fields: Fields, version: Version) throws(ProtocolError) {
        guard let host = fields.firstIndex(of: "host") else {
            guard version == .http10 else { throw .missingHost }
            return
        }
        guard fields.firstIndex(of: "host", from: host + 1) == nil else { throw .repeatedHost }
        guard Authority.isValid(fields.bytes.span.extracting(fields.entries[host].value)) else { throw .malformedHost }
    }

    /// RFC 9110 §10.1.1: 417 for an expectation that cannot be met; HTTP/1.0 has none.
    private static func isContinueExpected(_ fields: Fields, version: Version) throws(ProtocolError) -> Bool {
        guard version == .http11, let index = fields.firstIndex(of: "expect") else { return false }
        guard fields.firstIndex(of: "expect", from: index + 1) == nil,
            Grammar.equalsIgnoringCase(
                fields.bytes.span.extracting(fields.entries[index].value), "100-continue".utf8.span)
        else { throw .unknownExpectation }
        return true
    }
}
