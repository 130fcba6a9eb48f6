import HTTP
import HTTPClient
import HostileServer
import JSON
import Locks
import SQLiteStore
import Sessions
import Sockets
import Telemetry
import Testing

@testable import Configuration
@testable import Doctor
@testable import Federation
@testable import Server
@testable import sojourn

/// Goal: a whole server asks providers by itself: when a check is due, more and more seldom while there is no answer, and to the
/// end of the last answer when it stops; and says over HTTP how it is.
/// Method: a server on real sockets, with a clock that the test moves; the test waits for what it has to see, and no longer than that.
@Suite("Rechecks of a whole server", .timeLimit(.minutes(5))) struct RecheckServerTests {
    static let interval: Int64 = 3600
    static let budget: Int64 = 7200
    private let folder = StartingFolder()
    private let clock = RaceClock()

    /// A server that asks `provider` again, and has started.
    private func start(_ provider: RecheckProvider) async throws -> (SojournServer, ServerConfiguration, Addresses) {
        var entry = IdentityProvider(name: "acme", issuer: provider.issuer, audiences: ["app"])
        entry.discoveryURL = OutboundURL(provider.issuer + "/.well-known/openid-configuration", plainLoopback: true)
        entry.recheck = IdentityProvider.Recheck(
            terms: RecheckTerms(interval: .seconds(Self.interval), outageBudget: .seconds(Self.budget)))
        var configuration = folder.configuration
        configuration.identityProviders = [entry]
        let server = SojournServer(
            configuration,
            Environment(
                clock: clock.wall, secondsPassed: { [clock] in clock.wall.now.secondsSinceEpoch }, logger: .silent))
        return (server, configuration, try await server.start().addresses)
    }

    /// Logs in on a device; what the app keeps.
    private func logIn(_ provider: RecheckProvider, _ url: String, device: String, token: String) throws -> String {
        let body =
            #"{"provider":"acme","id_token":"\#(provider.idToken())","provider_refresh_token":"\#(token)","#
            + #""device":{"id":"\#(device)"}}"#
        let answer = try ask(.post, url + "/v1/login", body)
        #expect(answer.status == 200, "\(answer.json)")
        return try #require(answer.json["refresh_token"]?.string)
    }

    private func post(_ url: String, _ path: String, _ type: String, _ body: String) throws -> Response {
        let fields: Fields = ["Content-Type": type]
        let authority = String(url.split(separator: "/")[1])
        return try HTTPExchange.send(
            Request(.post, path, fields: fields, body: Array(body.utf8)), to: SocketAddress(authority))
    }

    /// Waits until that is so, a minute at most.
    private func wait(
        _ comment: Comment, _ location: SourceLocation = #_sourceLocation, until isSo: () throws -> Bool
    ) async throws {
        let deadline = ContinuousClock.now + .seconds(60)
        while try !isSo() {
            try #require(ContinuousClock.now < deadline, comment, sourceLocation: location)
            try await Task.sleep(for: .milliseconds(10))
        }
    }

    /// The value of a metric.
    private func metric(_ name: String, _ configuration: ServerConfiguration) throws -> Double? {
        let socket = SocketAddress.unix(path: configuration.database.socketPath)
        let answer = try HTTPExchange.send(Request(.get, "/metrics"), to: socket)
        return String(decoding: answer.body, as: UTF8.self).split(separator: "\n")
            .first { $0.hasPrefix(name + " ") }.flatMap { Double($0.dropFirst(name.count + 1)) }
    }

    private func outcome(_ name: String) -> String {
        #"sojourn_identity_rechecks_total{provider="acme",outcome="\#(name)"}"#
    }

    private let failing = #"sojourn_identity_recheck_failing_seconds{provider="acme"}"#

    /// What the doctor says of the provider.
    private func diagnosis(_ configuration: ServerConfiguration) -> [Finding] {
        IdentityProviderCheck.findings(configuration, of: .unix(path: configuration.database.socketPath))
    }

    @Test("the server asks when it is due, ever more seldom and one at a time during an outage, and heals")
    func outage() async throws {
        let provider = RecheckProvider(clock.wall)
        defer { provider.stop() }
        let (server, configuration, addresses) = try await start(provider)
        for device in ["a", "b"] { _ = try logIn(provider, addresses.public, device: device, token: device) }
        #expect(provider.presented.isEmpty)
        clock.advance(by: Self.interval)
        try await wait("it asks about both") { try metric(outcome("confirmed"), configuration) == 2 }
        #expect(provider.presented.sorted() == ["a", "b"])
        #expect(diagnosis(configuration).map(\.result) == [.ok])

        let times = Locked<[ContinuousClock.Instant]>([])
        provider.now { _, _ in
            times.withLock { $0.append(.now) }
            return RecheckProvider.error("server_error", status: "503 Later")
        }
        clock.advance(by: Self.interval)
        try await wait("both fail") { try metric(outcome("failed"), configuration) == 2 }
        // From now on both are due whenever it looks.
        clock.advance(by: 600)
        try await wait("it asks again") { times.withLock(\.count) == 4 }
        let asked = times.withLock { $0 }
        #expect(asked[2] - asked[1] >= .seconds(2))
        #expect(asked[3] - asked[2] >= .seconds(4), "one at a time, and later")
        try await wait("it says since when") { try metric(failing, configuration) ?? 0 >= 600 }
        let findings = diagnosis(configuration)
        #expect(findings.map(\.result) == [.warn])
        #expect(findings.first?.detail.hasPrefix("acme has given no answer about any session for 10 minutes") == true)

        provider.now { provider, _ in provider.confirm() }
        clock.advance(by: 1800)
        try await wait("it heals") { try metric(outcome("confirmed"), configuration) == 4 }
        try await wait("and says so") { try metric(failing, configuration) == 0 }
        #expect(diagnosis(configuration).map(\.result) == [.ok])
        await server.stop(deadline: .seconds(1))
    }

    @Test("a stop waits for the answer that is under way, and keeps the new token")
    func stop() async throws {
        let provider = RecheckProvider(clock.wall)
        defer { provider.stop() }
        let answer = HostileServer.Signal()
        provider.now { provider, _ in [.wait(answer)] + provider.confirm(newToken: "T2") }
        let (server, _, addresses) = try await start(provider)
        _ = try logIn(provider, addresses.public, device: "a", token: "T1")
        clock.advance(by: Self.interval)
        try await wait("it asks") { provider.presented == ["T1"] }
        let stopping = Task { await server.stop(deadline: .seconds(1)) }
        // The sockets close after rechecks were told to end.
        try await wait("it stops") { (try? ask(.get, addresses.public + "/oauth/jwks")) == nil }
        answer.give()
        await stopping.value

        provider.now { provider, _ in provider.confirm() }
        let (next, configuration, _) = try await start(provider)
        clock.advance(by: Self.interval)
        try await wait("it asks with the new one") { provider.presented == ["T1", "T2"] }
        try await wait("and believes") { try metric(outcome("confirmed"), configuration) == 1 }
        await next.stop(deadline: .seconds(1))
    }

    @Test("beyond interval and budget a refresh is answered with 503 and Retry-After, and heals with the provider")
    func unavailable() async throws {
        let provider = RecheckProvider(clock.wall)
        defer { provider.stop() }
        let (server, configuration, addresses) = try await start(provider)
        let token = try logIn(provider, addresses.public, device: "a", token: "T1")
        provider.now { _, _ in RecheckProvider.error("server_error", status: "503 Later") }
        clock.advance(by: Self.interval + Self.budget)
        let (json, form) = ("application/json", "application/x-www-form-urlencoded")
        let (refresh, exchange) = (
            #"{"refresh_token":"\#(token)"}"#, "grant_type=refresh_token&client_id=mobile&refresh_token=\(token)"
        )
        let own = try post(addresses.public, "/v1/refresh", json, refresh)
        #expect(own.status.code == 503 && own.fields.contains("Retry-After"))
        #expect(JSONValue(text: own.body)?["code"]?.string == "identity_provider_unavailable")
        let standard = try post(addresses.public, "/oauth/token", form, exchange)
        #expect(standard.status.code == 503 && standard.fields.contains("Retry-After"))
        #expect(JSONValue(text: standard.body)?["error"]?.string == "temporarily_unavailable")
        try await wait("it fails") { try metric(outcome("failed"), configuration) == 1 }
        provider.now { provider, _ in provider.confirm() }
        clock.advance(by: 1800)
        try await wait("it heals") { try post(addresses.public, "/oauth/token", form, exchange).status.code == 200 }
        #expect(try post(addresses.public, "/v1/refresh", json, refresh).status.code == 200)
        await server.stop(deadline: .seconds(1))
    }
}
