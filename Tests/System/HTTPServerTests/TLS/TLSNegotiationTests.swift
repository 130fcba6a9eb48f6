import Glibc
import HTTP
import HTTPServer
import TLS
import TLSFixture
import Testing

/// What is negotiated, asked by `openssl s_client`.
@Suite(.serialized, .timeLimit(.minutes(10))) struct TLSNegotiationTests {
    @Test(arguments: [("-tls1_2", "TLSv1.2"), ("-tls1_3", "TLSv1.3")], ["p256", "rsa", "rsa4096", "chained"])
    func bothVersionsServeRequestsWithEveryKindOfKey(version: (String, String), name: String) async throws {
        try await withSecureServer(context: Certificates.shared.context(name)) { server in
            let result = try await server.sClient(version.0, "-verify_return_error", "-servername", "localhost")
            #expect(result.contains("Verification: OK"), "\(result.text)")
            #expect(result.contains("\(version.1)"))
            #expect(result.contains("HTTP/1.1 200 OK"))
            #expect(result.contains("GET / "))
            #expect(result.contains("Compression: NONE"))
            #expect(result.contains("Early data was sent") == false)
            #expect(server.statistics.handshakes == 1)
            #expect(server.statistics.handshakeFailures == 0)
        }
    }

    @Test func renegotiationIsSecureAndRefused() async throws {
        try await withSecureServer { server in
            #expect(try await server.sClient("-tls1_2").contains("Secure Renegotiation IS supported"))
            let client = try await TLSClient(server.address, maximumVersion: 0x0303)
            #expect(try await client.ask(get("/")).contains("GET / "))
            await #expect(throws: TLSClient.Failure.self) { try await client.renegotiate() }
        }
    }

    // MARK: ALPN (RFC 7301)

    @Test(arguments: [
        ("http/1.1", "ALPN protocol: http/1.1"), ("h2,http/1.1", "ALPN protocol: http/1.1"),
        ("http/1.1,h2", "ALPN protocol: http/1.1"),
    ])
    func http11IsSelected(offer: String, outcome: String) async throws {
        try await withSecureServer { server in
            for version in ["-tls1_2", "-tls1_3"] {
                let result = try await server.sClient(version, "-alpn", offer)
                #expect(result.contains(outcome), "\(result.text)")
            }
        }
    }

    @Test(arguments: ["h2", "http/1.0", "h2,spdy/3", "http/1.10"]) func aClientThatOffersOnlyOthersIsTold(offer: String)
        async throws
    {
        try await withSecureServer { server in
            for version in ["-tls1_2", "-tls1_3"] {
                let result = try await server.sClient(version, "-alpn", offer)
                #expect(result.contains("SSL alert number 120"), "\(result.text)")
            }
            #expect(server.statistics.handshakeFailures == 2)
        }
    }

    @Test func aClientThatOffersNothingGoesOn() async throws {
        try await withSecureServer { server in
            let result = try await server.sClient()
            #expect(result.contains("No ALPN negotiated"))
            #expect(result.contains("HTTP/1.1 200 OK"))
        }
    }

    @Test(arguments: [["-servername", "login.example"], ["-servername", "someone.else"], ["-noservername"]])
    func everyNameGetsTheCertificate(options: [String]) async throws {
        try await withSecureServer { server in
            let result = try await server.sClient(options[0], options.last ?? "")
            #expect(result.contains("subject=CN = p256"))
            #expect(result.contains("HTTP/1.1 200 OK"))
        }
    }

    // MARK: Suites and groups

    @Test(arguments: [
        // Ours is the order, unless the client prefers ChaCha20.
        ("ECDHE-ECDSA-AES256-GCM-SHA384:ECDHE-ECDSA-AES128-GCM-SHA256", "ECDHE-ECDSA-AES128-GCM-SHA256"),
        ("ECDHE-ECDSA-CHACHA20-POLY1305:ECDHE-ECDSA-AES128-GCM-SHA256", "ECDHE-ECDSA-CHACHA20-POLY1305"),
        ("ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-ECDSA-CHACHA20-POLY1305", "ECDHE-ECDSA-AES128-GCM-SHA256"),
        ("ECDHE-ECDSA-AES256-GCM-SHA384", "ECDHE-ECDSA-AES256-GCM-SHA384"),
    ])
    func suitesAreChosenByTheServer(offer: String, chosen: String) async throws {
        try await withSecureServer { server in
            let result = try await server.sClient("-tls1_2", "-cipher", offer)
            #expect(result.contains("Cipher is \(chosen)"), "\(result.text)")
        }
    }

    @Test(arguments: [("X25519", true), ("P-256", true), ("P-521", false), ("P-256:X25519", true)])
    func groupsAreFew(groups: String, isTaken: Bool) async throws {
        // With RSA, because in TLS 1.2 the group of an ECDSA key has to be offered too.
        try await withSecureServer(context: Certificates.shared.context("rsa")) { server in
            for version in ["-tls1_2", "-tls1_3"] {
                let result = try await server.sClient(version, "-groups", groups)
                #expect(result.contains("HTTP/1.1 200 OK") == isTaken, "\(result.text)")
                #expect(result.contains("SSL alert number 40") != isTaken)
            }
        }
    }

    @Test func theWholeChainIsSent() async throws {
        try await withSecureServer(context: Certificates.shared.context("chained")) { server in
            let result = try await server.sClient("-showcerts")
            #expect(result.contains(" 0 s:CN = chained"))
            #expect(result.contains(" 1 s:CN = intermediate"))
            #expect(!result.contains(" 2 s:"))
        }
    }
}

/// Resumption: tickets in both versions, with keys that outlive a certificate and rotate.
@Suite(.serialized, .timeLimit(.minutes(10))) struct TLSResumptionTests {
    private func session() -> String { Certificates.shared.path("session-\(UInt64.random(in: 0 ... .max))") }

    @Test(arguments: ["-tls1_2", "-tls1_3"]) func aClientResumes(version: String) async throws {
        try await withSecureServer { server in
            let session = session()
            let first = try await server.sClient(version, "-sess_out", session)
            #expect(first.contains("\nNew, TLSv1"), "\(first.text)")
            let second = try await server.sClient(version, "-sess_in", session)
            #expect(second.contains("\nReused, TLSv1"), "\(second.text)")
            #expect(second.contains("HTTP/1.1 200 OK"))
            #expect(server.statistics.handshakes == 2)
            #expect(server.statistics.resumedHandshakes == 1)
        }
    }

    @Test(arguments: ["-tls1_2", "-tls1_3"]) func aClientResumesAfterTheCertificateWasReplaced(version: String)
        async throws
    {
        let keys = TicketKeys()
        try await withSecureServer(context: Certificates.shared.context(keys: keys)) { server in
            let session = session()
            _ = try await server.sClient(version, "-sess_out", session)
            server.holder.replace(with: try server.certificates.context("next", keys: keys))
            #expect(try await server.sClient(version, "-sess_in", session).contains("\nReused, TLSv1"))
            #expect(try await server.sClient(version).contains("subject=CN = next"))
        }
    }

    @Test(arguments: ["-tls1_2", "-tls1_3"]) func keysOpenForOneMoreRotationAndThenTheHandshakeIsAFullOne(
        version: String
    )
        async throws
    {
        let keys = TicketKeys()
        try await withSecureServer(context: Certificates.shared.context(keys: keys)) { server in
            let session = session()
            _ = try await server.sClient(version, "-sess_out", session)
            keys.rotate()
            #expect(try await server.sClient(version, "-sess_in", session).contains("\nReused, TLSv1"))
            keys.rotate()
            let last = try await server.sClient(version, "-sess_in", session)
            #expect(last.contains("\nNew, TLSv1"))
            #expect(last.contains("HTTP/1.1 200 OK"))
        }
    }

    @Test(arguments: ["-tls1_2", "-tls1_3"]) func ticketsOfAnotherServerAreIgnored(version: String) async throws {
        let session = session()
        try await withSecureServer { server in _ = try await server.sClient(version, "-sess_out", session) }
        try await withSecureServer { server in
            let result = try await server.sClient(version, "-sess_in", session)
            #expect(result.contains("\nNew, TLSv1"))
            #expect(result.contains("HTTP/1.1 200 OK"))
        }
    }
}
