public import HTTP
public import Sockets

/// Answers one request on the event loop of its connection: at once, or with a task if something has to be awaited.
public typealias Responder = @Sendable (Request, RequestContext) -> Reply

/// Answers one request in a task.
///
/// It runs on the event loop of its connection, so it must not compute or block for long; it awaits work on other
/// queues instead. (An actor without an executor of its own, and a `@concurrent` function, run on the loop too, because
/// the task prefers it.) After `Configuration.requestTimeout` the server cancels the task. If the client disconnects,
/// the handler still runs to its end.
public typealias RequestHandler = @Sendable (Request, RequestContext) async -> Response

/// What the connection knows about a request.
public final class RequestContext: Sendable {
    /// The address of the client; for a Unix socket, an empty path.
    public let remoteAddress: SocketAddress
    /// The name of the listener.
    public let listenerName: String
    /// True if the connection is encrypted by TLS.
    public let isSecure: Bool
    /// The verified certificate of the client; nil unless the listener asks for certificates.
    public let clientCertificate: ClientCertificate?

    /// The address of the client without its port, as text; empty for a Unix socket. It is computed once per
    /// connection.
    public let remoteHost: String

    /// True if the request came over a Unix socket, from a process of this machine that may open the socket's file.
    public var isLocalSocket: Bool { remoteAddress.port == nil }

    /// Creates a context. Tests of handlers use it directly.
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

/// A client certificate from an authority that the listener trusts. The client has proved that it holds the key.
public final class ClientCertificate: Sendable {
    /// The subject as RFC 2253 writes it: "CN=deploy,O=Example".
    public let subject: String
    /// The SHA-256 of the certificate, 32 bytes: `x5t#S256` of RFC 8705 before base64url.
    public let sha256: [UInt8]

    /// Creates a certificate. Tests of handlers use it directly.
    public init(subject: String, sha256: [UInt8]) {
        self.subject = subject
        self.sha256 = sha256
    }
}
