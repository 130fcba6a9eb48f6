import HTTP
import HTTPServer
import Sockets
import TLS
import TLSFixture
import Testing

/// What goes well over TLS, in the mouths of curl, of Python and of a client of our own.
@Suite(.serialized, .timeLimit(.minutes(10))) struct TLSConversationTests {
    @Test func curlKeepsAConnectionForManyRequests() async throws {
        try await withSecureServer { server in
            let result = try await server.curl(
                "-v", "--http1.1", "https://localhost:\(server.port)/a", "https://localhost:\(server.port)/b",
                path: "/c")
            for path in ["a", "b", "c"] { #expect(result.contains("GET /\(path) ")) }
            #expect(result.contains("ALPN: server accepted http/1.1"), "\(result.text)")
            #expect(server.statistics.accepted == 1)
            #expect(server.statistics.handshakes == 1)
            #expect(server.statistics.requests == 3)
        }
    }

    @Test func curlThatPrefersHTTP2Gets11() async throws {
        try await withSecureServer { server in
            let result = try await server.curl("--http2", "-w", "version %{http_version}")
            #expect(result.contains("version 1.1"))
        }
    }

    @Test func largeContentGoesBothWays() async throws {
        let size = 3 << 20
        let handler: RequestHandler = { request, _ in
            Response(.ok, "application/octet-stream", request.body.reversed() + request.body)
        }
        var configuration = HTTPServer.Configuration()
        configuration.limits.body = 4 << 20
        try await withSecureServer(configuration, handler: handler) { server in
            let result = try await server.python(
                """
                import random
                body = random.Random(1).randbytes(\(size))
                s = connect()
                head = b"POST / HTTP/1.1\\r\\nHost: a\\r\\nConnection: close\\r\\nContent-Length: %d\\r\\n\\r\\n" % len(body)
                # One after the other: a connection of libssl belongs to one thread at a time.
                s.sendall(head + body)
                answer = read_all(s, 1000)
                print("same", answer.partition(b"\\r\\n\\r\\n")[2] == body[::-1] + body)
                """)
            #expect(result.contains("same True"), "\(result.text)")
        }
    }

    @Test func pipelinedRequestsAreAnsweredHoweverLittleIsRead() async throws {
        try await withSecureServer { server in
            let result = try await server.python(
                """
                n = 2000
                s = connect()
                requests = b"".join(b"GET /%d HTTP/1.1\\r\\nHost: a\\r\\n\\r\\n" % i for i in range(n - 1))
                requests += b"GET /last HTTP/1.1\\r\\nHost: a\\r\\nConnection: close\\r\\n\\r\\n"
                # One thread, because a connection of libssl belongs to one at a time; it sends when it can, and reads little.
                s.setblocking(False)
                answers = b""
                while True:
                    try:
                        if requests: requests = requests[s.send(requests[:1000]):]
                    except ssl.SSLError: pass
                    try:
                        part = s.recv(7)
                        if not part: break
                        answers += part
                    except ssl.SSLError: select.select([s], [s] if requests else [], [], 60)
                bodies = [a.rpartition(b"\\r\\n\\r\\n")[2] for a in answers.split(b"HTTP/1.1 200 OK")[1:]]
                print("right", bodies == [b"GET /%d " % i for i in range(n - 1)] + [b"GET /last "])
                """)
            #expect(result.contains("right True"), "\(result.text)")
        }
    }

    @Test func theEndIsToldByACloseNotify() async throws {
        try await withSecureServer { server in
            let result = try await server.python(
                """
                raw = socket.create_connection(("127.0.0.1", port))
                s = tls.wrap_socket(raw, server_hostname="localhost", suppress_ragged_eofs=False)
                s.sendall(b"GET / HTTP/1.1\\r\\nHost: a\\r\\nConnection: close\\r\\n\\r\\n")
                print("end", read_all(s).endswith(b"GET / "))
                """)
            #expect(result.contains("end True"), "\(result.text)")
            let client = try await TLSClient(server.address)
            #expect(try await client.ask(get("/")).hasSuffix("GET / "))
            server.plain.advance(.seconds(76))
            #expect(try await client.isClosed())
        }
    }

    @Test func aRequestWithAGoodbyeBehindItIsStillAnswered() async throws {
        try await withSecureServer { server in
            for version in [0x0303, 0x0304] as [Int32] {
                let client = try await TLSClient(server.address, maximumVersion: version)
                #expect(try await client.ask(get("/first")).hasSuffix("GET /first "))
                try await client.prepare(get("/last"))
                await client.prepareGoodbye()
                try await client.flush()
                #expect(try await client.response().hasSuffix("GET /last "))
                #expect(try await client.isClosed())
            }
        }
    }

    @Test func aGoodbyeAloneEndsTheConnection() async throws {
        try await withSecureServer { server in
            let client = try await TLSClient(server.address)
            #expect(try await client.ask(get("/")).hasSuffix("GET / "))
            await client.prepareGoodbye()
            try await client.flush()
            #expect(try await client.isClosed())
            while server.statistics.open > 0 { await aMoment() }
        }
    }

    @Test func aStreamThatIsCutIsLikeOneThatEnds() async throws {
        try await withSecureServer { server in
            let client = try await TLSClient(server.address)
            #expect(try await client.ask(get("/")).hasSuffix("GET / "))
            await client.cut()
            while server.statistics.open > 0 { await aMoment() }
            #expect(server.statistics.protocolErrors == 0)
            #expect(server.statistics.timeouts == 0)
        }
    }

    @Test(arguments: [1, 2, 7, 100]) func recordsMayComeInPieces(size: Int) async throws {
        try await withSecureServer(loops: 1) { server in
            let client = try await TLSClient(server.address)
            for number in 0..<20 { try await client.prepare(get("/\(number)")) }
            try await client.prepare(post("/post", String(repeating: "x", count: 3000)))
            try await client.flush(inPiecesOf: size)
            for number in 0..<20 { #expect(try await client.response().hasSuffix("GET /\(number) ")) }
            #expect(try await client.response().hasSuffix("POST /post " + String(repeating: "x", count: 3000)))
        }
    }

    @Test func aRequestMayComeOverManyRecords() async throws {
        try await withSecureServer { server in
            let client = try await TLSClient(server.address)
            for byte in post("/slowly", "abc").utf8 { try await client.prepare(String(UnicodeScalar(byte))) }
            try await client.flush()
            #expect(try await client.response().hasSuffix("POST /slowly abc"))
        }
    }

    @Test func keysMayBeUpdatedWithinReason() async throws {
        try await withSecureServer { server in
            let client = try await TLSClient(server.address)
            for number in 0..<100 {
                try await client.prepareKeyUpdate()
                #expect(try await client.ask(get("/\(number)")).hasSuffix("GET /\(number) "))
            }
        }
    }

    @Test func theContextOfARequestSaysThatItIsSecure() async throws {
        let handler: RequestHandler = { _, context in
            Response(.ok, text: "\(context.listenerName) \(context.isSecure) \(context.clientCertificate == nil)")
        }
        try await withSecureServer(handler: handler) { server in
            let secure = try await server.curl()
            #expect(secure.text == "secure true true")
            #expect(try await server.plain.client().ask(get("/")).body == "public false true")
        }
    }

    @Test func theHeaderOfAProxyComesBeforeTheHandshake() async throws {
        try await withServer { server in
            var options = HTTPServer.ServiceOptions()
            options.proxies = [try #require(AddressRange("127.0.0.0/8"))]
            options.tls = TLSContextHolder(try Certificates.shared.context())
            let address = try server.server.listen(on: SocketAddress("127.0.0.1:0"), options) { _, context in
                Response(.ok, text: "\(context.remoteAddress) \(context.isSecure)")
            }
            for version in [0x0303, 0x0304] as [Int32] {
                let client = try await TLSClient(
                    address, maximumVersion: version, preamble: "PROXY TCP4 192.0.2.1 10.0.0.1 56324 443\r\n")
                #expect(try await client.ask(get("/")).hasSuffix("192.0.2.1:56324 true"))
            }
            let bare = try await Client(address)
            try await bare.send(TLSClient.greeting())
            #expect(await bare.countUntilEnd() == 0)
        }
    }

    @Test func aNewCertificateLeavesConnectionsAlone() async throws {
        try await withSecureServer { server in
            let client = try await TLSClient(server.address)
            #expect(try await client.ask(get("/before")).hasSuffix("GET /before "))
            server.holder.replace(with: try server.certificates.context("next"))
            #expect(try await client.ask(get("/after")).hasSuffix("GET /after "))
            #expect(try await server.sClient().contains("subject=CN = next"))
            #expect(try await client.ask(get("/still")).hasSuffix("GET /still "))
        }
    }

    @Test func aStopAnswersWhatRunsAndSaysGoodbye() async throws {
        let (started, release) = (Gate(), Gate())
        try await withSecureServer(handler: slowEcho(started, release)) { server in
            let client = try await TLSClient(server.address)
            try await client.prepare(get("/slow"))
            try await client.flush()
            await started.pass()
            async let stop: Void = server.plain.server.stop(deadline: .seconds(30))
            await server.plain.isRefusing()
            await release.open()
            let answer = try await client.response()
            #expect(answer.contains("GET /slow "))
            #expect(try await client.isClosed())
            await client.cut()
            await stop
        }
    }
}

/// Mutual TLS: only clients with a certificate of the right authority.
@Suite(.serialized, .timeLimit(.minutes(10))) struct TLSClientCertificateTests {
    private static let handler: RequestHandler = { _, context in
        guard let certificate = context.clientCertificate else { return Response(.ok, text: "nobody") }
        let digits = certificate.sha256.map { ($0 < 16 ? "0" : "") + String($0, radix: 16, uppercase: true) }
        return Response(.ok, text: "\(certificate.subject) \(digits.joined(separator: ":"))")
    }

    private func withMutualServer(_ body: (SecureServer) async throws -> Void) async throws {
        let context = try Certificates.shared.context(clientAuthority: "ca")
        try await withSecureServer(context: context, handler: Self.handler, body)
    }

    @Test(arguments: ["--tls-max 1.2", "--tlsv1.3"]) func aClientOfTheAuthorityIsKnown(version: String) async throws {
        try await withMutualServer { server in
            let files = server.certificates
            let options = version.split(separator: " ").map(String.init)
            let result = try await server.curl(
                options[0], options.count > 1 ? options[1] : "-s", "--cert", files.path("client.crt"), "--key",
                files.path("client.key"))
            let fingerprint = try await Tool.run(
                ["openssl", "x509", "-in", files.path("client.crt"), "-noout", "-fingerprint", "-sha256"])
            let digits = try #require(fingerprint.text.split(separator: "=").last)
            #expect(result.text == "CN=deploy,O=Example " + digits.split(separator: "\n").joined())
        }
    }

    @Test(arguments: ["--tls-max 1.2", "--tlsv1.3"], ["", "stranger"])
    func othersAreRefused(version: String, name: String) async throws {
        try await withMutualServer { server in
            let files = server.certificates
            let certificate =
                name.isEmpty ? [] : ["--cert", files.path("\(name).crt"), "--key", files.path("\(name).key")]
            let result = try await Tool.run(
                ["curl", "-sS", "--cacert", files.path("ca.crt")] + version.split(separator: " ").map(String.init)
                    + certificate + ["https://localhost:\(server.port)/"])
            #expect(result.status != 0)
            #expect(result.contains("alert"), "\(result.text)")
            while server.statistics.handshakeFailures == 0 { await aMoment() }
            #expect(server.statistics.requests == 0)
        }
    }

    @Test(arguments: ["-tls1_2", "-tls1_3"]) func everyConnectionShowsItsCertificateAgain(version: String) async throws
    {
        try await withMutualServer { server in
            let files = server.certificates
            let session = files.path("session-\(UInt64.random(in: 0 ... .max))")
            let certificate = ["-cert", files.path("client.crt"), "-key", files.path("client.key")]
            _ = try await server.sClient(
                version, certificate[0], certificate[1], certificate[2], certificate[3], "-sess_out", session)
            let next = try await server.sClient(version, certificate[0], certificate[1], certificate[2], certificate[3])
            #expect(next.contains("CN=deploy,O=Example"))
            let resumed = try await server.sClient(version, "-sess_in", session)
            #expect(!resumed.contains("\nReused, TLSv1"))
            #expect(!resumed.contains("200 OK"))
        }
    }
}
