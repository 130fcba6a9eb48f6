/// A limit for everything that a peer can make grow. Bytes, unless a name says otherwise.
public struct Limits: Hashable, Sendable {
    /// The request line, without its line end: RFC 9112 §3 recommends to support at least 8000. Beyond: 414.
    public var requestLine = 8192
    /// The method: the longest registered one (`UPDATEREDIRECTREF`) has 17. Beyond: 501.
    public var method = 32
    /// Field lines of a head: what Apache allows; browsers behind two proxies send 40. Beyond: 431.
    public var fieldCount = 100
    /// All field lines together, line ends included: two JWTs and a proof fit several times. Beyond: 431.
    public var fieldBytes = 16384
    /// The content: the largest body of the API has a tenth of it. Beyond: 413.
    public var body = 65536
    /// All chunk extensions of a body together: nobody uses them, so they only cost (RFC 9112 §7.1.1). Beyond: 400.
    public var chunkExtensionBytes = 1024
    /// Trailer lines of a body: they are dropped, so few will do. Beyond: 431.
    public var trailerCount = 16
    /// All trailer lines together, line ends included. Beyond: 431.
    public var trailerBytes = 2048
    /// Empty lines before a request line: old clients sent one after a body (RFC 9112 §2.2), and what is without meaning
    /// is read by nobody in two ways. Beyond: 400.
    public var leadingEmptyLines = 8

    /// The defaults; change what has to differ.
    public init() {}
}
