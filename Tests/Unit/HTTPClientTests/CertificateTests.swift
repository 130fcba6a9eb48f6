import EventLoops
import HTTP
import HTTPClient
import HTTPServer
import Sockets
import TLS
import TLSFixture
import Testing

@Suite struct CertificateTests {
    /// Asks a server with the certificate `name` for `host`, believing in `authority`.
    private func ask(
        _ host: String, certificate name: String, authority: String?, on interface: String = "127.0.0.1"
    ) async throws -> Result<OutboundResponse, OutboundError> {
        let loops = try EventLoopGroup(count: 1)
        let server = HTTPServer(configuration: HTTPServer.Configuration(), loops: loops, wallClock: { 784_111_777 })
        var options = HTTPServer.ServiceOptions(name: "secure")
        options.tls = TLSContextHolder(try Certificates.shared.context(name))
        let address = try server.listen(on: SocketAddress("\(interface):0"), options) { request, _ in
            Response(.ok, text: request.target.path)
        }
        let url = try #require(OutboundURL("https://\(host):\(address.port ?? 0)/hello"))
        let outcome = await HTTPClient().outcome(
            OutboundRequest(.get, url, authorities: authority.map { Certificates.shared.path($0) }))
        await server.stop(deadline: .zero)
        await loops.stop()
        return outcome
    }

    @Test func verifiedCertificate_IsTaken() async throws {
        let answer = try await ask("127.0.0.1", certificate: "p256", authority: "ca.crt").get()
        #expect(answer.body == Array("/hello".utf8))
        #expect(try await ask("localhost", certificate: "rsa", authority: "ca.crt").get().status == 200)
    }

    @Test func strangersCertificate_IsRefused() async throws {
        #expect(try await ask("127.0.0.1", certificate: "stranger", authority: "ca.crt").failure == .untrusted)
    }

    @Test func certificateUnknownToTheSystem_IsRefused() async throws {
        #expect(try await ask("127.0.0.1", certificate: "p256", authority: nil).failure == .untrusted)
    }

    @Test func certificateOfAnotherHost_IsRefused() async throws {
        let outcome = try await ask("[::1]", certificate: "p256", authority: "ca.crt", on: "[::1]")
        #expect(outcome.failure == .untrusted)
    }

    @Test(arguments: ["not.pem", "no-such-file"])
    func authoritiesThatCannotBeRead_AreNoAuthorities(_ file: String) async throws {
        #expect(try await ask("127.0.0.1", certificate: "p256", authority: file).failure == .untrusted)
    }
}
