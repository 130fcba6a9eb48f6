/// What a complete head says about the rest of the request.
struct RequestHead {
    let framing: BodyFraming
    /// Whether the sender waits for `100 Continue` before it sends the content. Means nothing when there is none.
    let expectsContinue: Bool

    /// Checks the fields as a whole.
    init(checking fields: borrowing Fields, version: Version, limits: Limits) throws(ProtocolError) {
        let decisive = DecisiveFields(fields)
        try Self.checkHost(fields, decisive.host, version: version)
        framing = try BodyFraming.decide(fields, decisive, version: version, limits: limits)
        expectsContinue = try Self.isContinueExpected(fields, decisive.expect, version: version)
    }

    /// RFC 9112 §3.2: exactly one valid `Host` in HTTP/1.1, also beside an absolute target; at most one in HTTP/1.0.
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

    /// RFC 9110 §10.1.1: 417 for an expectation that cannot be met; HTTP/1.0 has none. A list, of which a sender might have
    /// put members on several lines, or none at all.
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
