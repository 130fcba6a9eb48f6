public import HTTP

/// A request that the server makes.
public struct OutboundRequest: Sendable {
    /// The method.
    public var method: Method
    /// The URL.
    public var url: OutboundURL
    /// The fields. `Host`, `User-Agent` and `Content-Length` are added.
    public var fields: Fields
    /// The content.
    public var body: [UInt8]
    /// The time from the call to the last byte of the response; nil for the client's default.
    public var deadline: Duration?
    /// The bytes of the response's content at most; nil for the client's default.
    public var contentMax: Int?
    /// The path of a file with certificates (PEM) that verify the other side; nil for the system's.
    public var authorities: String?

    /// Creates a request.
    public init(
        _ method: Method, _ url: OutboundURL, fields: Fields = Fields(), body: [UInt8] = [], deadline: Duration? = nil,
        contentMax: Int? = nil, authorities: String? = nil
    ) {
        self.method = method
        self.url = url
        self.fields = fields
        self.body = body
        self.deadline = deadline
        self.contentMax = contentMax
        self.authorities = authorities
    }
}

/// The response of another server. None of it is trusted: only form and size were checked.
public struct OutboundResponse: Sendable {
    /// The status (RFC 9110 §15). Redirects are not followed.
    public let status: Int
    /// The fields of the last head.
    public let fields: Fields
    /// The content as it arrived; no content coding is removed.
    public let body: [UInt8]
}
