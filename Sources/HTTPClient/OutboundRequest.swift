public import HTTP

/// A request that the server makes.
public struct OutboundRequest: Sendable {
    /// What is to be done.
    public var method: Method
    /// Whom it goes to.
    public var url: OutboundURL
    /// Its fields; `Host`, `User-Agent` and `Content-Length` come by themselves.
    public var fields: Fields
    /// Its content.
    public var body: [UInt8]
    /// How long it may take from the call to the last byte of the answer; nil: as the client's options say.
    public var deadline: Duration?
    /// The most bytes of the answer's content; nil: as the client's options say.
    public var contentMax: Int?
    /// A file with the certificates (PEM) by which the other side is verified; nil: those of the system.
    public var authorities: String?

    /// A request.
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

/// What the other side answered. All of it is somebody else's word: nothing has been checked but its form and size.
public struct OutboundResponse: Sendable {
    /// The status (RFC 9110 section 15); a redirect too is only that.
    public let status: Int
    /// The fields of the last head.
    public let fields: Fields
    /// The content, as it came: nothing is unpacked.
    public let body: [UInt8]
}
