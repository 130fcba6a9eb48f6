import Cryptography
import Glibc
import HTTP
import JOSE
import JSON
import PostgresFixture
import PostgresStore
import Sockets
import Telemetry
import Testing

@testable import Configuration
@testable import Server
@testable import Sessions
@testable import sojourn

/// A node on a machine with another time than the database and the other node: every answer is right all the same.
@Suite("Many nodes: the time is the database's", .timeLimit(.minutes(2)))
struct NodeTimeTests {
    private static let rootKey = Hex.encode([UInt8](repeating: 7, count: 32))
    private static let interval = Duration.seconds(20)

    /// A node with a right clock, another with a wrong one, and a user with a phone.
    private final class Nodes {
        let right: Application
        let off: SojournServer
        let addresses: SojournServer.Start
        private let folder = StartingFolder()

        init(ahead seconds: Int64, followsDatabase: Bool = true) async throws {
            var configuration = folder.configuration
            configuration.database.location = .postgres(url: try PostgresServer.shared.newDatabase())
            configuration.server.issuer = "https://id.example"
            right = try await Application.open(configuration, Self.environment(ahead: 0, followsDatabase))
            _ = try await Administration(right.context).changeSettings(by: .system) { $0.rotationInterval = interval }
            off = SojournServer(configuration, Self.environment(ahead: seconds, followsDatabase))
            addresses = try await off.start()
        }

        private static func environment(ahead seconds: Int64, _ followsDatabase: Bool) -> Environment {
            let shift = Duration.seconds(seconds)
            var environment = Environment(
                clock: WallClock(
                    { WallClock.system.now + shift }, precisely: { WallClock.system.sinceEpoch + shift }),
                logger: .silent, rootKeyVariable: rootKey)
            environment.followsDatabaseClock = followsDatabase
            return environment
        }

        /// A session of a new user at the right node.
        func logIn(_ username: String, boundTo key: PhoneKey? = nil) async throws -> TokenGrant {
            let user = try await Administration(right.context).createUser(
                username: username, password: nil, profile: User.Profile(), offlineSessionMax: nil, by: .system)
            var request = SessionRequest(clientID: Client.mobileID, device: Device(id: "phone"))
            request.proof = key.map { ProofOfPossession(of: $0.thumbprint, hasNonce: true) { .first } }
            return try await Services(right.context).login.mintSession(request, for: .id(user.id), from: .system)
        }

        /// A refresh at the right node that brings another token, as one long after the login does.
        func rotate(_ token: String) async throws -> String {
            let administration = Administration(right.context)
            _ = try await administration.changeSettings(by: .system) { $0.rotationInterval = .zero }
            let next = try #require(try await refresh(token).refreshToken)
            _ = try await administration.changeSettings(by: .system) { $0.rotationInterval = interval }
            #expect(next != token)
            return next
        }

        /// A refresh at the right node.
        func refresh(_ token: String) async throws -> TokenGrant {
            try await Services(right.context).refresh.refresh(
                RefreshAttempt(token: token, clientID: Client.mobileID), from: .system)
        }

        /// A call to the node with the wrong clock.
        func call(
            _ method: HTTP.Method, _ path: String, _ fields: [(StaticString, String)] = [], _ body: String = ""
        ) throws -> (status: Int, json: JSONValue, date: String?) {
            var all = Fields()
            if !body.isEmpty { all.append("Content-Type", "application/json") }
            for (name, value) in fields { all.append(name, value) }
            let address = try SocketAddress(String(addresses.addresses.public.dropFirst("http://".count)))
            let response = try HTTPExchange.send(
                Request(method, path, fields: all, body: Array(body.utf8)), to: address)
            return (response.status.code, JSONValue(text: response.body) ?? .null, response.fields.first("Date"))
        }

        func end() async {
            await off.stop(deadline: .seconds(5))
            // What the guard of the clock remembers lies in the working directory of a node on PostgreSQL.
            unlink("sojourn.clock")
            await right.close()
        }
    }

    private static let offsets: [Int64] = [-600, -60, 60, 600]

    @Test("a lost answer is repeated there within the rotation interval, and ends no session", arguments: offsets)
    func lostAnswer(seconds: Int64) async throws {
        let nodes = try await Nodes(ahead: seconds)
        for round in 0..<3 {
            let first = try #require(try await nodes.logIn("anna\(round)").refreshToken)
            let second = try await nodes.rotate(first)
            // Another process of the phone uses the new token already, and gets no newer one within the interval.
            let used = try nodes.call(.post, "/v1/refresh", [], #"{"refresh_token":"\#(second)"}"#)
            #expect(used.status == 200 && used.json["refresh_token"]?.string == second, "\(used.json)")
            let repeated = try nodes.call(.post, "/v1/refresh", [], #"{"refresh_token":"\#(first)"}"#)
            #expect(repeated.status == 200, "\(repeated.json)")
            #expect(repeated.json["refresh_token"]?.string == second)
            // The other way round: what it issues is the right node's.
            let third = try nodes.call(.post, "/v1/refresh", [], #"{"refresh_token":"\#(second)"}"#)
            #expect(third.status == 200, "\(third.json)")
            _ = try await nodes.refresh(try #require(third.json["refresh_token"]?.string))
        }
        let events = try await nodes.right.context.store.events(after: 0, limit: 200, userID: nil, sessionID: nil)
        #expect(!events.contains { $0.event.reason == "refresh_token_reused" })
        await nodes.end()
    }

    @Test("nodes that went by the clocks of their machines would take the repeated token for a stolen one")
    func control() async throws {
        let nodes = try await Nodes(ahead: 60, followsDatabase: false)
        let first = try #require(try await nodes.logIn("anna").refreshToken)
        let second = try await nodes.rotate(first)
        let used = try nodes.call(.post, "/v1/refresh", [], #"{"refresh_token":"\#(second)"}"#)
        #expect(used.status == 200 && used.json["refresh_token"]?.string != second)
        let repeated = try nodes.call(.post, "/v1/refresh", [], #"{"refresh_token":"\#(first)"}"#)
        #expect(repeated.status == 401, "\(repeated.json)")
        #expect(repeated.json["code"]?.string == "refresh_token_reused")
        await nodes.end()
    }

    @Test("`iat`, `exp`, `issued_at` and the field `Date` are right there", arguments: offsets)
    func times(seconds: Int64) async throws {
        let nodes = try await Nodes(ahead: seconds)
        let login = try await nodes.logIn("anna")
        let before = WallClock.system.now.secondsSinceEpoch
        let token = try #require(login.refreshToken)
        let answer = try nodes.call(.post, "/v1/refresh", [], #"{"refresh_token":"\#(token)"}"#)
        let span = (before - 1)...(WallClock.system.now.secondsSinceEpoch + 1)
        let access = try #require(answer.json["access_token"]?.string)
        let (issued, lifetime) = try Self.times(of: access)
        #expect(span.contains(issued))
        #expect(try lifetime == Self.times(of: login.accessToken).lifetime)
        #expect(answer.json["issued_at"]?.integer.map(span.contains) == true)
        let dates = span.map { String(decoding: HTTPDate.imfFixdate(secondsSinceEpoch: Int($0)), as: UTF8.self) }
        #expect(dates.contains(answer.date ?? ""))
        await nodes.end()
    }

    /// `iat` of an access token, and the time from there to `exp`.
    private static func times(of token: String) throws -> (issued: Int64, lifetime: Int64) {
        let part = String(token.split(separator: ".")[1])
        let bytes = try #require(Base64URL.decode(part))
        let claims = try #require(JSONValue(text: bytes))
        let issued = try #require(claims["iat"]?.integer)
        return (issued, try #require(claims["exp"]?.integer) - issued)
    }

    @Test("a message of the command line itself has the database's time, or the machine's if the database is away")
    func commandLine() throws {
        let folder = StartingFolder()
        var configuration = folder.configuration
        let environment = Environment(
            clock: WallClock { Instant(secondsSinceEpoch: 4_000_000_000) }, logger: .silent)
        for (location, isDatabases) in [
            (.postgres(url: try PostgresServer.shared.newDatabase()), true),
            (.postgres(url: "postgres://127.0.0.1:1/away"), false), (configuration.database.location, false),
        ] as [(ServerConfiguration.Database.Location, Bool)] {
            configuration.database.location = location
            let time = Database.clock(configuration, environment).now.secondsSinceEpoch
            #expect((time == 4_000_000_000) != isDatabases)
            if isDatabases { #expect(abs(time - WallClock.system.now.secondsSinceEpoch) < 60) }
        }
    }

    @Test("a proof of possession of a phone with a right clock is accepted there", arguments: offsets)
    func proof(seconds: Int64) async throws {
        let nodes = try await Nodes(ahead: seconds)
        let key = PhoneKey()
        let token = try await nodes.logIn("anna", boundTo: key).accessToken
        let proof = key.proof(.get, "https://id.example/v1/me", token: token, nonce: nil)
        let fields: [(StaticString, String)] = [
            ("Authorization", "DPoP \(token)"), ("DPoP", proof), ("Host", "id.example"), ("X-Forwarded-Proto", "https"),
        ]
        let answer = try nodes.call(.get, "/v1/me", fields)
        #expect(answer.status == 200, "\(answer.json)")
        await nodes.end()
    }

    @Test("the node says that it is not ready as soon as another node tells again that it agrees with the database")
    func readiness() async throws {
        let nodes = try await Nodes(ahead: 600)
        let deadline = ContinuousClock.now + .seconds(60)
        var answer = try nodes.call(.get, "/readyz")
        while answer.status == 200, ContinuousClock.now < deadline {
            if case .postgres(let store) = nodes.right.database {
                _ = try await store.exchangeLeads(of: "right", .zero)
            }
            try await Task.sleep(for: .milliseconds(50))
            answer = try nodes.call(.get, "/readyz")
        }
        #expect(answer.status == 503 && answer.json["store"]?.string == "clock")
        #expect(try nodes.call(.get, "/healthz").status == 200)
        await nodes.end()
    }
}
