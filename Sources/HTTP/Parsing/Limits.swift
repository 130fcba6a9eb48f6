/// Limits for everything that a peer can make grow, in bytes unless the name says otherwise.
public struct Limits: Hashable, Sendable {
    /// The request line, without its line end. RFC 9112 §3 recommends to support at least 8000. Beyond: 414.
    public var requestLine = 8192
    /// The method. The longest registered one (`UPDATEREDIRECTREF`) has 17. Beyond: 501.
    public var method = 32
    /// The number of field lines in a head. It is Apache's limit; browsers behind two proxies send 40. Beyond: 431.
    public var fieldCount = 100
    /// All field lines in total, with line ends. Two JWTs and a proof fit several times. Beyond: 431.
    public var fieldBytes = 16384
    /// The content. The largest body of the API has a tenth of it. Beyond: 413.
    public var body = 65536
    /// All chunk extensions of a body in total. Clients do not use them, so they only cost time (RFC 9112 §7.1.1).
    /// Beyond: 400.
    public var chunkExtensionBytes = 1024
    /// The number of trailer lines of a body. They are dropped, so a few suffice. Beyond: 431.
    public var trailerCount = 16
    /// All trailer lines in total, with line ends. Beyond: 431.
    public var trailerBytes = 2048
    /// The number of empty lines before a request line. Old clients sent one after a body (RFC 9112 §2.2), and empty
    /// lines are not ambiguous. Beyond: 400.
    public var leadingEmptyLines = 8

    /// Creates the default limits.
    public init() {}
}
