/// One complete request.
public struct Request: Equatable, Sendable {
    /// The method; one that nobody knows is possible.
    public var method: Method
    /// Path and query.
    public var target: RequestTarget
    /// The version that the sender understands.
    public var version: Version
    /// The fields of the head. Trailer fields are validated and dropped, never merged into these (RFC 9110 §6.5.1).
    public var fields: Fields
    /// The content, with the transfer coding removed.
    public var body: [UInt8]

    /// Puts a request together, as it is.
    public init(
        method: Method, target: RequestTarget, version: Version = .http11, fields: Fields = Fields(), body: [UInt8] = []
    ) {
        self.method = method
        self.target = target
        self.version = version
        self.fields = fields
        self.body = body
    }

    /// A request of the origin form: `Request(.post, "/v1/login", body: …)`. What follows a `?` in `target` is its query.
    public init(_ method: Method, _ target: String, fields: Fields = Fields(), body: [UInt8] = []) {
        let parts = target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        self.init(
            method: method,
            target: RequestTarget(path: String(parts[0]), query: parts.count > 1 ? String(parts[1]) : nil),
            fields: fields, body: body)
    }
}

extension Request {
    /// Memory that it takes, in bytes, but for a hundred or two.
    public var heldBytes: Int {
        body.capacity + fields.heldBytes + target.path.utf8.count + (target.query?.utf8.count ?? 0)
    }

    /// Whether the sender lets the connection live after the response (RFC 9112 §9.3).
    public var wantsKeepAlive: Bool {
        if fields.listContains("connection", "close") { return false }
        // Some take what follows the head of a request to upgrade for the other protocol (RFC 9110 §7.8 has it come after the
        // content). So nothing is read behind such a request but its content.
        if !body.isEmpty || fields.contains("transfer-encoding"), fields.contains("upgrade") { return false }
        return version == .http11 || fields.listContains("connection", "keep-alive")
    }

    /// The authority of the target: the `Host` field, or what an absolute target put in its place.
    public var authority: String? { fields.first("host") }

    /// The segments of the path, decoded, or nil when one of them is not well-formed: an invalid escape, bytes that are
    /// not UTF-8, or a NUL. `%2F` stays inside its segment. `/` has no segments; `/a/` has `a` and an empty one.
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

    /// The query as a form: names and values in their order; none without a query.
    public func queryItems(maximumCount: Int = FormDecoder.defaultMaximumCount) throws(FormError) -> [FormPair] {
        guard let query = target.query else { return [] }
        return try FormDecoder.decode(query.utf8.span, maximumCount: maximumCount)
    }
}
