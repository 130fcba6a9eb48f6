import HTTP
import HTTPServer
import TLS
import Testing

/// What is negotiated, asked by `openssl s_client`, and by bytes of our own where that refuses to be old-fashioned.
@Suite(.timeLimit(.minutes(10))) struct TLSNegotiationTests {
    @Test(arguments: [("-tls1_2", "TLSv1.2"), ("-tls1_3", "TLSv1.3")], ["p256", "rsa", "rsa4096", "chained"])
    func bothVersionsServeRequestsWithEveryKindOfKey(version: (String, String), name: String) async throws {
        try await withSecureServer(context: TLSCertificates.shared.context(name)) { server in
            let result = try await server.sClient(version.0, "-verify_return_error", "-servername", "localhost")
            #expect(result.contains("Verification: OK"), "\(result.text)")
            #expect(result.contains("\(version.1)"))
            #expect(result.contains("HTTP/1.1 200 OK"))
            #expect(result.contains("GET / "))
            #expect(server.statistics.handshakes == 1)
            #expect(server.statistics.handshakeFailures == 0)
        }
    }
}
