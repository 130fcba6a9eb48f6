public import HTTP
public import Sockets

/// Answers one request, on the event loop of its connection: at once, or by a task, if something has to be awaited.
public typealias Responder = @Sendable (Request, RequestContext) -> Reply

/// Answers one request.
///
/// It runs on the event loop of its connection, so it must not compute or block for long: it awaits others who do, on queues of their own.
/// (An actor without an executor of its own, and a `@concurrent` function, run on the loop too: the task prefers it.)
/// Its answer is not awaited for longer than `Configuration.requestTimeout`; then its task is cancelled.
/// When the client has gone meanwhile, the handler still runs to its end.
public typealias RequestHandler = @Sendable (Request, RequestContext) async -> Response

/// What the connection knows about a request.
public final class RequestContext: Sendable {
    /// The other end; of a Unix socket: a path that is empty.
    public let remoteAddress: SocketAddress
    /// The name that was given to the listener.
    public let listenerName: String
    /// Whether the connection is encrypted by TLS.
    public let isSecure: Bool
    /// Who the client proved to be; nil unless the listener asks for certificates.
    public let clientCertificate: ClientCertificate?

    /// The address of the other end without its port, as text; empty for a Unix socket. Made once for a connection.
    public let remoteHost: String

    /// Whether the request came over a Unix socket: from a process of this machine that may open the socket's file.
    public var isLocalSocket: Bool { remoteAddress.port == nil }

    /// Puts a context together; a test of a handler does.
    public init(
        remoteAddress: SocketAddress, listenerName: String, isSecure: Bool = false,
        clientCertificate: ClientCertificate? = nil
    ) {
        self.remoteAddress = remoteAddress
        self.listenerName = listenerName
        remoteHost = remoteAddress.host
        self.isSecure = isSecure
        self.clientCertificate = clientCertificate
    }
}

/// A certificate that a client has shown, of an authority that the listener trusts, with proof that it holds the key.
public final class ClientCertificate: Sendable {
    /// As in RFC 2253: "CN=deploy,O=Example".
    public let subject: String
    /// SHA-256 of the certificate, 32 bytes: `x5t#S256` of RFC 8705 before base64url.
    public let sha256: [UInt8]

    /// Puts one together; a test of a handler does.
    public init(subject: String, sha256: [UInt8]) {
        self.subject = subject
        self.sha256 = sha256
    }
}
