/// What a complete head says about the content of the request.
struct RequestHead {
    let framing: BodyFraming
    /// True if the client waits for `100 Continue` before it sends the content. It has no meaning without content.
    let expectsContinue: Bool

    /// Checks the fields as a whole.
    init(checking fields: borrowing Fields, version: Version, limits: Limits) throws(ProtocolError) {
        let decisive = DecisiveFields(fields)
        try Self.checkHost(fields, decisive.host, version: version)
        framing = try BodyFraming.decide(fields, decisive, version: version, limits: limits)
        expectsContinue = try Self.isContinueExpected(fields, decisive.expect, version: version)
    }

    /// RFC 9112 §3.2: HTTP/1.1 has exactly one valid `Host`, also with an absolute target; HTTP/1.0 at most one.
    private static func checkHost(
        _ fields: borrowing Fields, _ host: DecisiveFields.Occurrence, version: Version
    ) throws(ProtocolError) {
        guard let index = host.first else {
            guard version == .http10 else { throw .missingHost }
            return
        }
        guard !host.isRepeated else { throw .repeatedHost }
        guard Authority.isValid(fields.bytes.span.extracting(fields.entries[index].value)) else { throw .malformedHost }
    }

    /// RFC 9110 §10.1.1: an unknown expectation is answered with 417; HTTP/1.0 ignores `Expect`. The field is a list,
    /// so its members may stand on several lines or be absent.
    private static func isContinueExpected(
        _ fields: borrowing Fields, _ expect: DecisiveFields.Occurrence, version: Version
    ) throws(ProtocolError) -> Bool {
        guard version == .http11, let first = expect.first else { return false }
        let bytes = fields.bytes.span
        var isExpected = false
        for index in first..<(expect.isRepeated ? fields.entries.count : first + 1)
        where Grammar.equalsIgnoringCase(bytes.extracting(fields.entries[index].name), "expect".utf8.span) {
            guard let found = ListMembers.consist(of: "100-continue", in: bytes, fields.entries[index].value) else {
                throw .unknownExpectation
            }
            isExpected = isExpected || found
        }
        return isExpected
    }
}
