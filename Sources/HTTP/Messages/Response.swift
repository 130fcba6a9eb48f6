/// One response. `ResponseSerializer` adds what the connection knows: `Date`, `Content-Length`, `Connection`.
public struct Response: Equatable, Sendable {
    /// The status.
    public var status: Status
    /// The fields; `Date`, `Content-Length`, `Transfer-Encoding` and `Connection` among them are not sent.
    public var fields: Fields
    /// The content. Not sent in answers to `HEAD`, nor with a status that forbids it.
    public var body: [UInt8]

    /// Puts a response together.
    public init(status: Status, fields: Fields = Fields(), body: [UInt8] = []) {
        self.status = status
        self.fields = fields
        self.body = body
    }

    /// A response with content of the given media type: `Response(.ok, "application/json", bytes)`.
    public init(_ status: Status, _ contentType: String, _ body: [UInt8]) {
        self.init(status: status, fields: ["Content-Type": contentType], body: body)
    }

    /// A response of plain text in UTF-8.
    public init(_ status: Status, text: String) {
        self.init(status, "text/plain; charset=utf-8", Array(text.utf8))
    }
}
