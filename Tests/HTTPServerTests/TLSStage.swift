import Glibc
import HTTP
import HTTPServer
import Sockets
import TLS

/// A folder with certificates of all kinds, made once by the `openssl` command.
struct TLSCertificates: Sendable {
    let folder: String

    static let shared = TLSCertificates()

    private init() {
        folder = "/tmp/tls-\(getpid())-\(UInt64.random(in: 0 ... .max))"
        mkdir(folder, 0o700)
        let script = """
            set -e; cd \(folder)
            new() { # name, key options, subject, then options of x509
                name=$1; key=$2; subject=$3; shift 3
                openssl req -new -newkey $key -nodes -keyout $name.key -subj "$subject" -out $name.csr 2>/dev/null
                printf 'subjectAltName=DNS:localhost,DNS:login.example,IP:127.0.0.1' > $name.ext
                openssl x509 -req -in $name.csr -extfile $name.ext -out $name.crt "$@" 2>/dev/null
            }
            P256="ec -pkeyopt ec_paramgen_curve:prime256v1"
            openssl req -x509 -newkey $P256 -nodes -keyout ca.key -out ca.crt -subj /CN=root -days 3650 2>/dev/null
            cp ca.crt other-ca.crt
            openssl req -x509 -newkey $P256 -nodes -keyout other-ca.key -out other-ca.crt -subj /CN=other -days 3650 2>/dev/null
            openssl req -x509 -newkey $P256 -nodes -keyout intermediate.key -out intermediate.crt -subj /CN=intermediate \\
                -days 3650 -CA ca.crt -CAkey ca.key 2>/dev/null || {
                openssl req -new -newkey $P256 -nodes -keyout intermediate.key -subj /CN=intermediate -out i.csr
                printf 'basicConstraints=critical,CA:TRUE' > i.ext
                openssl x509 -req -in i.csr -extfile i.ext -CA ca.crt -CAkey ca.key -CAcreateserial -days 3650 -out intermediate.crt
            }
            SIGNED="-CA ca.crt -CAkey ca.key -CAcreateserial"
            new p256 "$P256" /CN=p256 $SIGNED -days 90
            new next "$P256" /CN=next $SIGNED -days 90
            new rsa rsa:2048 /CN=rsa $SIGNED -days 90
            new rsa4096 rsa:4096 /CN=rsa4096 $SIGNED -days 90
            new weak rsa:1024 /CN=weak $SIGNED -days 90
            new client "$P256" "/O=Example/CN=deploy" $SIGNED -days 90
            new stranger "$P256" /CN=stranger -CA other-ca.crt -CAkey other-ca.key -CAcreateserial -days 90
            new chained "$P256" /CN=chained -CA intermediate.crt -CAkey intermediate.key -CAcreateserial -days 90
            cat chained.crt intermediate.crt > chained.pem
            openssl ec -in p256.key -aes128 -passout pass:secret -out encrypted.key 2>/dev/null
            echo nothing > not.pem
            """
        guard let result = try? TLSTool.runAndWait(["bash", "-c", script]), result.status == 0 else {
            fatalError("openssl did not make the certificates")
        }
    }

    func path(_ name: String) -> String { "\(folder)/\(name)" }

    /// The contents of one of the files.
    func bytes(_ name: String) -> [UInt8] {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let file = open(path(name), O_RDONLY)
        while case let count = read(file, &buffer, buffer.count), count > 0 { bytes += buffer.prefix(count) }
        close(file)
        return bytes
    }

    func pem(_ name: String, clientAuthority: String? = nil) -> TLSCredentials.PEM {
        TLSCredentials.PEM(
            certificate: bytes(name == "chained" ? "chained.pem" : name + ".crt"), key: bytes(name + ".key"),
            clientAuthority: clientAuthority.map { bytes($0 + ".crt") })
    }

    func context(
        _ name: String = "p256", clientAuthority: String? = nil, keys: TicketKeys = TicketKeys()
    ) throws -> TLSContext {
        try TLSContext(
            TLSCredentials(pem(name, clientAuthority: clientAuthority), now: Int64(time(nil))), ticketKeys: keys)
    }
}

/// A server with a second listener that speaks TLS.
struct SecureServer: Sendable {
    let plain: ServerUnderTest
    let address: SocketAddress
    let holder: TLSContextHolder
    let certificates = TLSCertificates.shared

    var statistics: HTTPServer.Statistics { plain.server.statistics }
    var port: String { "\(address.port ?? 0)" }

    /// Runs `openssl s_client` on the server; what it is given as input it sends, and it waits for the end.
    func sClient(_ options: String..., input: String = closingGet, waits: Bool = true) async throws -> TLSTool.Result {
        try await TLSTool.run(
            ["openssl", "s_client", "-connect", "127.0.0.1:\(port)", "-CAfile", certificates.path("ca.crt")]
                + (waits ? ["-ign_eof"] : []) + options, input: input)
    }

    /// Runs curl on the server.
    func curl(_ options: String..., path: String = "/") async throws -> TLSTool.Result {
        try await TLSTool.run(
            ["curl", "-sS", "--cacert", certificates.path("ca.crt")] + options + ["https://localhost:\(port)\(path)"])
    }

    /// Runs a Python program that finds `port` and `ca`, and a context `tls` for a client.
    func python(_ program: String) async throws -> TLSTool.Result {
        let prelude = """
            import socket, ssl, sys, threading
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
        return try await TLSTool.run(["python3", "-c", prelude + program])
    }
}

let closingGet = get("/", "Connection: close\r\n")

/// Starts a server with a listener in clear text and one with TLS for the time of `body`.
func withSecureServer<Result>(
    _ configuration: HTTPServer.Configuration = HTTPServer.Configuration(), loops: Int = 2,
    context: TLSContext? = nil, handshakes: HandshakeQueue = HandshakeQueue(), handler: @escaping RequestHandler = echo,
    _ body: (SecureServer) async throws -> Result
) async throws -> Result {
    let holder = TLSContextHolder(try context ?? TLSCertificates.shared.context())
    return try await withServer(configuration, loops: loops, handshakes: handshakes, handler: handler) { plain in
        var options = HTTPServer.ServiceOptions(name: "secure")
        options.tls = holder
        let address = try plain.server.listen(on: SocketAddress("127.0.0.1:0"), options, handler: handler)
        return try await body(SecureServer(plain: plain, address: address, holder: holder))
    }
}
