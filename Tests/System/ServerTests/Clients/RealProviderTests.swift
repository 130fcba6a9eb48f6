import Configuration
import FoundationEssentials
import HTTPClient
import HostileServer
import Repository
import Sessions
import Synchronization
import TLSFixture
import Telemetry
import Testing

@testable import Federation
@testable import Server

/// Logins by the ID tokens of another author's provider, as a package of Debian has it, and what it says when it is asked
/// again.
@Suite(.timeLimit(.minutes(3))) struct RealProviderTests {
    private let folder = StartingFolder()

    /// The lines that a script of `RealProvider` writes.
    private func lines(_ script: String, _ arguments: String...) async throws -> [String] {
        let path = Repository.path("Tests/System/ServerTests/Scripts/RealProvider/\(script).py")
        let result = try await Tool.run(["python3", "-B", path, folder.path] + arguments)
        return result.text.split(separator: "\n").map(String.init)
    }

    @Test func glewlwyd_vouchesForItsUser() async throws {
        let said = try await lines("logins", CommandLineProgram.path)
        #expect(
            said == [
                "wrong nonce 401", "login 200 Ada L", "again 401 invalid_id_token", "next login 200 True",
                "wrong nonce invalid_request", "exchange 200 True", "again invalid_request", "refresh 200",
                "provider gone 200 200",
            ])
    }

    /// Its refresh tokens are good once, so that the second confirmation shows that the new one was kept. Its answers have no ID
    /// token. Its no is a 400 without a word, which ends nothing: a session that it does not name is only renewed no longer.
    @Test func glewlwyd_isAskedAgain() async throws {
        let (interval, budget): (Int64, Int64) = (300, 600)
        let port = Self.freePort()
        let issuer = "http://127.0.0.1:\(port)"
        var entry = IdentityProvider(name: "glewlwyd", issuer: issuer, audiences: ["app"])
        entry.discoveryURL = OutboundURL(issuer + "/api/oidc/.well-known/openid-configuration", plainLoopback: true)
        entry.recheck = IdentityProvider.Recheck(
            terms: RecheckTerms(interval: .seconds(interval), outageBudget: .seconds(budget)))
        entry.recheck?.takesNoIDToken = true
        var configuration = folder.configuration
        configuration.identityProviders = [entry]
        let passed = MovedClock()
        let key = "an-admin-key-for-a-real-identity-provider"
        let server = SojournServer(
            configuration,
            Environment(
                clock: passed.wall, secondsPassed: { passed.wall.now.secondsSinceEpoch }, logger: .silent,
                adminKeyVariable: key))
        let addresses = try await server.start().addresses
        let mover = HostileServer { request in
            passed.advance(by: request.split { !$0.isNumber }.first.flatMap { Int64($0) } ?? 0)
            return [.say("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")]
        }
        let said = try await lines(
            "rechecks", "\(port)", addresses.public, addresses.admin, key, mover.origin, "\(interval)", "\(budget)")
        #expect(
            said == [
                "login 200", "confirmed 200", "confirmed 200", "revoked 1", "no word 200",
                "too long ago 503 identity_provider_unavailable False",
            ])
        mover.stop()
        await server.stop(deadline: .seconds(1))
    }

    /// A free port of 127.0.0.1.
    private static func freePort() -> UInt16 {
        let server = HostileServer { _ in [] }
        server.stop()
        return server.port
    }
}

/// The system's clock, which a test moves on: a provider with a clock of its own has to agree with it at a login.
private final class MovedClock: Sendable {
    private let seconds = Atomic<Int64>(0)

    var wall: WallClock {
        WallClock { WallClock.system.now + .seconds(self.seconds.load(ordering: .sequentiallyConsistent)) }
    }

    func advance(by count: Int64) { seconds.add(count, ordering: .sequentiallyConsistent) }
}
