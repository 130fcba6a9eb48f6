/// The HTTP version of a message (RFC 9110 §2.5).
public enum Version: String, Hashable, Sendable {
    /// HTTP/1.0: no chunked coding, no `Expect`, persistence only on request.
    case http10 = "HTTP/1.0"
    /// HTTP/1.1 and every later minor version, which RFC 9110 §2.5 says to treat as the highest known one.
    case http11 = "HTTP/1.1"
}
