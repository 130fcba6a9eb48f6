import HTTP
import HTTPServer
import Sockets
import TLS
import TLSFixture

/// A server with a second listener that speaks TLS.
struct SecureServer: Sendable {
    let plain: ServerUnderTest
    let address: SocketAddress
    let holder: TLSContextHolder
    let certificates = Certificates.shared

    var statistics: HTTPServer.Statistics { plain.server.statistics }
    var port: String { "\(address.port ?? 0)" }

    /// Runs `openssl s_client` on the server; what it is given as input it sends, and it waits for the end.
    func sClient(_ options: String..., input: String = closingGet, waits: Bool = true) async throws -> Tool.Result {
        try await Tool.run(
            ["openssl", "s_client", "-connect", "127.0.0.1:\(port)", "-CAfile", certificates.path("ca.crt")]
                + (waits ? ["-ign_eof"] : []) + options, input: input)
    }

    /// Runs curl on the server.
    func curl(_ options: String..., path: String = "/") async throws -> Tool.Result {
        try await Tool.run(
            ["curl", "-sS", "--cacert", certificates.path("ca.crt")] + options + ["https://localhost:\(port)\(path)"])
    }

    /// Runs a Python program that finds `port` and `ca`, and a context `tls` for a client.
    func python(_ program: String) async throws -> Tool.Result {
        let prelude = """
            import select, socket, ssl, sys
            port, ca = \(port), "\(certificates.path("ca.crt"))"
            folder = "\(certificates.folder)"
            tls = ssl.create_default_context(cafile=ca)
            def connect(context=tls):
                raw = socket.create_connection(("127.0.0.1", port), timeout=60)
                return context.wrap_socket(raw, server_hostname="localhost")
            def read_all(stream, chunk=65536):
                parts = []
                while True:
                    part = stream.recv(chunk)
                    if not part: return b"".join(parts)
                    parts.append(part)

            """
        return try await Tool.run(["python3", "-c", prelude + program])
    }
}

let closingGet = get("/", "Connection: close\r\n")

/// Starts a server with a listener in clear text and one with TLS for the time of `body`.
func withSecureServer<Result>(
    _ configuration: HTTPServer.Configuration = HTTPServer.Configuration(), loops: Int = 2,
    context: TLSContext? = nil, handshakes: HandshakeQueue = HandshakeQueue(), handler: @escaping RequestHandler = echo,
    _ body: (SecureServer) async throws -> Result
) async throws -> Result {
    let holder = TLSContextHolder(try context ?? Certificates.shared.context())
    return try await withServer(configuration, loops: loops, handshakes: handshakes, handler: handler) { plain in
        var options = HTTPServer.ServiceOptions(name: "secure")
        options.tls = holder
        let address = try plain.server.listen(on: SocketAddress("127.0.0.1:0"), options, handler: handler)
        return try await body(SecureServer(plain: plain, address: address, holder: holder))
    }
}
