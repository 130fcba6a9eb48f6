/// One complete request.
public struct Request: Equatable, Sendable {
    /// The method; it may be an unknown one.
    public var method: Method
    /// Path and query.
    public var target: RequestTarget
    /// The HTTP version of the request.
    public var version: Version
    /// The fields of the head. Trailer fields are validated and dropped, never merged into these (RFC 9110 §6.5.1).
    public var fields: Fields
    /// The content, after the transfer coding was removed.
    public var body: [UInt8]

    /// Creates a request without checks.
    public init(
        method: Method, target: RequestTarget, version: Version = .http11, fields: Fields = Fields(), body: [UInt8] = []
    ) {
        self.method = method
        self.target = target
        self.version = version
        self.fields = fields
        self.body = body
    }

    /// Creates a request in origin form: `Request(.post, "/v1/login", body: …)`. The text after the first `?` in
    /// `target` is the query.
    public init(_ method: Method, _ target: String, fields: Fields = Fields(), body: [UInt8] = []) {
        let parts = target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        self.init(
            method: method,
            target: RequestTarget(path: String(parts[0]), query: parts.count > 1 ? String(parts[1]) : nil),
            fields: fields, body: body)
    }
}

extension Request {
    /// The memory that the request takes, in bytes, without one or two hundred bytes of overhead.
    public var heldBytes: Int {
        body.capacity + fields.heldBytes + target.path.utf8.count + (target.query?.utf8.count ?? 0)
    }

    /// True if the client allows the connection to stay open after the response (RFC 9112 §9.3).
    public var wantsKeepAlive: Bool {
        if fields.listContains("connection", "close") { return false }
        // Some clients send the bytes of the upgraded protocol directly after the head, although RFC 9110 §7.8 places
        // them after the content. So the connection closes after such a request, and nothing behind its content is
        // read.
        if !body.isEmpty || fields.contains("transfer-encoding"), fields.contains("upgrade") { return false }
        return version == .http11 || fields.listContains("connection", "keep-alive")
    }

    /// The authority of the target: the `Host` field, or the authority of an absolute target, which replaces it.
    public var authority: String? { fields.first("host") }

    /// The decoded segments of the path; nil if one is malformed: an invalid escape, bytes that are not UTF-8, or a
    /// NUL. `%2F` stays inside its segment. `/` has no segments; `/a/` has `a` and an empty one.
    public var pathSegments: [String]? {
        let path = target.path.utf8
        guard path.first == UInt8(ascii: "/") else { return nil }
        guard path.count > 1 else { return [] }
        var segments: [String] = []
        for segment in path.dropFirst().split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false) {
            guard let decoded = try? PercentDecoding.string(Array(segment).span, plusIsSpace: false) else { return nil }
            segments.append(decoded)
        }
        return segments
    }

    /// Decodes the query as a form: names and values in their order, empty without a query.
    public func queryItems(maximumCount: Int = FormDecoder.defaultMaximumCount) throws(FormError) -> [FormPair] {
        guard let query = target.query else { return [] }
        return try FormDecoder.decode(query.utf8.span, maximumCount: maximumCount)
    }
}
