/// The URL of a mail relay: `smtp://HOST:PORT`, which begins in the clear, or `smtps://HOST:PORT`, which begins with TLS.
public struct RelayURL: Hashable, Sendable, CustomStringConvertible {
    /// The URL as it was given.
    public let description: String
    /// Host and port.
    public let place: String
    /// The port.
    public let port: Int
    /// Whether the connection begins with TLS.
    public let isSecure: Bool
    /// Whether the relay is this machine, by the URL.
    public let isLoopback: Bool

    /// Parses `text`. Returns nil for other schemes, a user, a path or a query.
    public init?(_ text: String) {
        guard let parts = URLParts(text), ["smtp", "smtps"].contains(parts.scheme), parts.path == "/",
            !parts.hasQuery, let port = Int(parts.port)
        else { return nil }
        description = text
        place = "\(parts.host):\(parts.port)"
        self.port = port
        isSecure = parts.scheme == "smtps"
        isLoopback = parts.isLoopback
    }

    /// This relay by the other scheme.
    public var otherScheme: RelayURL? { RelayURL((isSecure ? "smtp://" : "smtps://") + place) }

    /// The URL in the form of libcurl, which takes the name of this machine from the path.
    func text(helo: String) -> String { "\(isSecure ? "smtps" : "smtp")://\(place)/\(helo)" }
}
