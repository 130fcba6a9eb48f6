/// One response. `ResponseSerializer` adds `Date`, `Content-Length` and `Connection`.
public struct Response: Equatable, Sendable {
    /// The status.
    public var status: Status
    /// The fields. `Date`, `Content-Length`, `Transfer-Encoding` and `Connection` are not sent from here.
    public var fields: Fields
    /// The content. It is not sent in responses to `HEAD`, nor with a status that forbids it.
    public var body: [UInt8]

    /// Creates a response.
    public init(status: Status, fields: Fields = Fields(), body: [UInt8] = []) {
        self.status = status
        self.fields = fields
        self.body = body
    }

    /// Creates a response with content of the given media type: `Response(.ok, "application/json", bytes)`.
    public init(_ status: Status, _ contentType: String, _ body: [UInt8]) {
        self.init(status: status, fields: ["Content-Type": contentType], body: body)
    }

    /// Creates a response of plain text in UTF-8.
    public init(_ status: Status, text: String) {
        self.init(status, "text/plain; charset=utf-8", Array(text.utf8))
    }
}
