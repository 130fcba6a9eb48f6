import Dispatch
import HTTP
import JSON
import Server
import Sessions
import Sockets
import Testing

@testable import Configuration
@testable import sojourn

/// The races again, fewer of them, through sockets, event loops and endpoints.
@Suite("Races over HTTP", .timeLimit(.minutes(10)))
struct RaceWireTests {
    /// A server on free ports in a folder of its own, with a clock that a test moves.
    struct World: Sendable {
        let folder = StartingFolder()
        let clock = StartingClock()
        let server: SojournServer
        let addresses: Addresses
        let adminKey: String

        init() async throws {
            server = SojournServer(folder.configuration, clock.environment())
            let start = try await server.start()
            addresses = start.addresses
            adminKey = try #require(start.firstAdminKey)
        }

        typealias Answer = (status: Int, json: JSONValue)

        /// A call on a thread of its own, because it blocks.
        func call(
            _ method: HTTP.Method, _ path: String, bearer: String? = nil, _ body: String = ""
        ) async throws -> Answer {
            try await onThread { [addresses] in try ask(method, addresses.public + path, bearer: bearer, body) }
        }

        /// A call of an admin.
        func admin(_ method: HTTP.Method, _ path: String, _ body: String = "") async throws -> Answer {
            try await onThread { [addresses, adminKey] in
                try ask(method, addresses.admin + "/admin/v1" + path, bearer: adminKey, body)
            }
        }

        private func onThread(_ work: @escaping @Sendable () throws -> Answer) async throws -> Answer {
            try await withCheckedThrowingContinuation { continuation in
                DispatchQueue(label: "caller").async { continuation.resume(with: Result(catching: work)) }
            }
        }

        func refresh(_ token: String) async throws -> Answer {
            try await call(.post, "/v1/refresh", #"{"refresh_token":"\#(token)"}"#)
        }

        func makeUser(_ username: String) async throws {
            try #require(try await admin(.post, "/users", #"{"username":"\#(username)"}"#).status == 201)
        }

        func logIn(_ username: String) async throws -> (refresh: String, access: String, session: String) {
            let login = try await admin(
                .post, "/users/username:\(username)/sessions", #"{"device":{"id":"phone"}}"#)
            return (
                try #require(login.json["refresh_token"]?.string), try #require(login.json["access_token"]?.string),
                try #require(login.json["session_id"]?.string)
            )
        }
    }

    @Test("fifty parallel refreshes get the same token, twenty times over")
    func converging() async throws {
        let world = try await World()
        try await world.makeUser("anna")
        var token = try await world.logIn("anna").refresh
        for _ in 1...20 {
            world.clock.advance(.seconds(120))
            let answers = try await withThrowingTaskGroup(of: World.Answer.self) { [token] group in
                for _ in 0..<50 { group.addTask { try await world.refresh(token) } }
                return try await group.reduce(into: [World.Answer]()) { $0.append($1) }
            }
            #expect(answers.allSatisfy { $0.status == 200 })
            let children = Set(answers.compactMap { $0.json["refresh_token"]?.string })
            try #require(children.count == 1)
            token = try #require(children.first)
        }
        await world.server.stop(deadline: .seconds(1))
    }

    /// Name, method and path of the call that ends (`{user}`, `{session}`), and the reason.
    static let endings: [(Method, String, String)] = [
        (.post, "/users/{user}/revoke", "revoked_by_admin"), (.delete, "/sessions/{session}", "revoked_by_admin"),
        (.post, "/users/{user}/disable", "login_disabled_by_admin"), (.delete, "/users/{user}", "user_deleted"),
        (.post, "/revoke-all", "revoked_by_admin"), (.post, "/users/{user}/sessions", "replaced"),
    ]

    @Test("a token of a race with an ending is refused once the ending is acknowledged", arguments: endings.indices)
    func ending(_ index: Int) async throws {
        let (method, template, reason) = Self.endings[index]
        let world = try await World()
        for round in 1...10 {
            try await world.makeUser("user-\(round)")
            let login = try await world.logIn("user-\(round)")
            world.clock.advance(.seconds(120))
            let path = template.replacing("{user}", with: "username:user-\(round)")
                .replacing("{session}", with: login.session)
            let body = template.hasSuffix("/sessions") ? #"{"device":{"id":"phone"}}"# : ""
            let answers = try await withThrowingTaskGroup(of: World.Answer?.self) { group in
                for _ in 0..<8 { group.addTask { try await world.refresh(login.refresh) } }
                group.addTask {
                    let ended = try await world.admin(method, path, body).status
                    #expect((200..<300).contains(ended))
                    return nil
                }
                for _ in 0..<8 { group.addTask { try await world.refresh(login.refresh) } }
                return try await group.reduce(into: [World.Answer]()) { if let answer = $1 { $0.append(answer) } }
            }
            var tokens = [(refresh: login.refresh, access: login.access)]
            for answer in answers {
                if answer.status == 200 {
                    tokens.append(
                        (
                            try #require(answer.json["refresh_token"]?.string),
                            try #require(answer.json["access_token"]?.string)
                        ))
                } else {
                    #expect(answer.status == 401)
                    #expect(answer.json["code"]?.string == reason)
                }
            }
            for token in tokens {
                let refused = try await world.refresh(token.refresh)
                #expect(refused.status == 401)
                #expect(refused.json["code"]?.string == reason)
                #expect(try await world.call(.get, "/v1/verify", bearer: token.access).status == 401)
            }
        }
        await world.server.stop(deadline: .seconds(1))
    }

    @Test("a rotation of the signing key and a restart keep every living token good, and bring none back")
    func keyRotationAndRestart() async throws {
        let world = try await World()
        for name in ["anna", "ben"] { try await world.makeUser(name) }
        var configuration = world.folder.configuration
        configuration.server.issuer = world.addresses.public
        let (anna, ben) = (try await world.logIn("anna"), try await world.logIn("ben"))
        try #require(try await world.call(.post, "/v1/logout", bearer: ben.access).status == 204)

        func expectUnchanged(_ addresses: Addresses) throws {
            let verify = addresses.public + "/v1/verify"
            #expect(try ask(.get, verify, bearer: anna.access).status == 200)
            #expect(try ask(.get, verify, bearer: ben.access).status == 401)
            let refused = try ask(
                .post, addresses.public + "/v1/refresh", #"{"refresh_token":"\#(ben.refresh)"}"#)
            #expect(refused.json["code"]?.string == "logged_out")
            let refreshed = try ask(
                .post, addresses.public + "/v1/refresh", #"{"refresh_token":"\#(anna.refresh)"}"#)
            #expect(refreshed.status == 200)
            let access = refreshed.json["access_token"]?.string
            #expect(try ask(.get, verify, bearer: access).status == 200)
        }

        for _ in 1...2 {
            #expect(try await world.admin(.post, "/keys/rotate", #"{"immediately":true}"#).status == 201)
            try expectUnchanged(world.addresses)
        }
        await world.server.stop(deadline: .seconds(1))
        let next = SojournServer(configuration, world.clock.environment())
        let start = try await next.start()
        try expectUnchanged(start.addresses)
        let keys = try ask(.get, start.addresses.public + "/oauth/jwks").json["keys"]?.elements.count
        #expect(keys == 6)
        await next.stop(deadline: .seconds(1))
    }
}
