internal import Synchronization

/// The page that sends a request, by the origin that its browser names, and what the client of the request says of it. A client
/// with `allowedOrigins` refuses every other origin; one without ignores the page, because web views and old proxies name origins too.
public final class CallingPage: Sendable {
    /// What the client of the request says of the origin.
    public enum Standing: Hashable, Sendable {
        /// No client of the request has been verified.
        case clientUnknown
        /// The client allows the origin, or it is that of the server.
        case allowed
        /// The client has no origins.
        case ignored
        /// The client has other origins.
        case refused
    }

    /// The origin as the browser names it.
    public let origin: String
    /// Whether it is the server's own.
    public let isOwn: Bool
    private let noted = Mutex(Standing.clientUnknown)

    /// A page of that origin.
    public init(origin: String, isOwn: Bool) { (self.origin, self.isOwn) = (origin, isOwn) }

    /// What the client that was noted last says of the origin.
    public var standing: Standing { noted.withLock { $0 } }

    /// Notes the verified client of the request. Throws `originNotAllowed` if it does not allow the origin.
    public func admit(_ client: Client) throws(ServiceError) {
        let standing: Standing =
            if isOwn || client.allows(origin: origin) { .allowed } else {
                client.allowedOrigins.isEmpty ? .ignored : .refused
            }
        noted.withLock { $0 = standing }
        if standing == .refused { throw .originNotAllowed }
    }

    /// Notes the client of a session of which a token was verified. Throws `originNotAllowed` if it does not allow the origin.
    public func admit(in record: SessionRecord) throws(ServiceError) {
        if let client = record.client { try admit(client) }
    }
}

extension Client {
    /// Whether pages of that origin may call the server as this client. Both texts are compared byte for byte.
    func allows(origin: String) -> Bool {
        allowedOrigins.contains { $0.text.utf8.elementsEqual(origin.utf8) }
    }
}
