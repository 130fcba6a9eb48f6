/// The version that governs a message (RFC 9110 §2.5).
public enum Version: String, Hashable, Sendable {
    /// HTTP/1.0: no chunked coding, no `Expect`, no persistence unless asked for.
    case http10 = "HTTP/1.0"
    /// HTTP/1.1, and every later minor version, which RFC 9110 §2.5 has a recipient treat like the highest it knows.
    case http11 = "HTTP/1.1"
}
