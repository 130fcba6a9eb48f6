import FoundationEssentials
import HTTP
import JSON
import Locks
import Testing

@testable import Endpoints

/// The ways in which a name and a password come.
enum PasswordWay: String, CaseIterable, Sendable {
    case page, call, grant, basic

    /// Those that come by a client.
    static let ofClients = allCases.filter { $0 != .basic }

    /// Sends a name and a password. A browser that is let in is redirected.
    func send(
        _ name: String, _ password: String, for client: String, to server: EndpointsFixture
    ) async throws -> Answer {
        switch self {
        case .page:
            let (login, browser) = (PageLoginFixture(server: server), Browser(server))
            let page = try await login.page(browser, ["client_id": client, "scope": "openid"])
            return await login.submit(browser, page, username: name, password: password)
        case .call:
            let body: [String: JSONValue] = [
                "username": .string(name), "password": .string(password), "client_id": .string(client),
                "device": .object(["id": .string("d1")]),
            ]
            let text = try #require(JSONValue.object(body).compactText)
            return await server.call(.post, "/v1/login", text)
        case .grant:
            let form = [
                "grant_type": "password", "client_id": client, "username": name, "password": password,
                "device_id": "d1",
            ]
            return await server.form("/oauth/token", Browser.encoded(form))
        case .basic:
            let credentials = Data("\(name):\(password)".utf8).base64EncodedString()
            return await server.call(
                .put, "/v1/me/login-settings", #"{"logins_disabled":false}"#,
                fields: ["Authorization": "Basic \(credentials)"])
        }
    }

    /// Whether the answer says that the name or the password is wrong.
    func isWrong(_ answer: Answer) -> Bool {
        switch self {
        case .page: answer.status == 422
        case .call, .basic: answer.string("code") == "invalid_credentials"
        case .grant: answer.string("error") == "invalid_grant"
        }
    }
}

/// The limits of wrong passwords of a user with two names: they bound the tries, and tell nothing of the other name.
@Suite struct LoginNameLimitTests {
    private static let client = "app"
    private static let address = "anna@example.org"

    /// Gives `body` a server with anna with a verified address.
    private static func with(_ body: (EndpointsFixture) async throws -> Void) async throws {
        try await EndpointsFixture.with { server in
            _ = try await server.makeClient(
                #"""
                {"client_id":"app","scope":"openid read","redirect_uris":["com.example.app:/callback"],
                 "grant_types":["authorization_code","refresh_token","login","password"]}
                """#)
            let answer = await server.admin(
                .patch, "/admin/v1/users/username:anna", #"{"email":"\#(address)","email_verified":true}"#)
            #expect(answer.status == 200, "\(answer.text)")
            try await body(server)
        }
    }

    private static func send(
        _ server: EndpointsFixture, _ name: String, _ password: String = EndpointsFixture.password,
        by way: PasswordWay = .call
    ) async throws -> Answer {
        try await way.send(name, password, for: client, to: server)
    }

    @Test("no answer tells which address belongs to which name", arguments: PasswordWay.allCases)
    func twoNames(way: PasswordWay) async throws {
        try await Self.with { server in
            func compare(_ isAddress: Bool, _ step: String) async throws -> Answer {
                let names = isAddress ? [Self.address, "bert@example.org"] : ["anna", "bert"]
                let known = try await Self.send(server, names[0], "wrong", by: way)
                let unknown = try await Self.send(server, names[1], "wrong", by: way)
                #expect(known.status == unknown.status, "\(step) \(known.text)")
                #expect(known.field("Retry-After") == unknown.field("Retry-After"), "\(step)")
                if way != .page { #expect(known.text == unknown.text, "\(step)") }
                return known
            }
            for number in 0..<10 { #expect(way.isWrong(try await compare(false, "\(number)"))) }
            #expect(try await compare(false, "waiting").status == 429)
            #expect(way.isWrong(try await compare(true, "the other name")))
            // Up to the lock, and in it.
            for number in Int64(1)...11 {
                server.moveClock(to: 100 * number)
                _ = try await compare(false, "name \(number)")
                #expect(way.isWrong(try await compare(true, "address \(number)")), "\(number)")
            }
        }
    }

    @Test("while one name of a user waits, the other one is answered as a wrong password is, at one hash")
    func otherName() async throws {
        try await Self.with { server in
            for _ in 0..<10 { _ = try await Self.send(server, "anna", "wrong") }
            let hashes = server.environment.hashes.withLock { $0.count }
            let early = try await Self.send(server, Self.address)
            #expect(early.string("code") == "invalid_credentials")
            #expect(server.environment.hashes.withLock { $0.count } == hashes + 1)
            // It was no wrong password, so that the delay does not grow.
            server.moveClock(to: 1)
            #expect(try await Self.send(server, Self.address).status == 200)
            #expect(try await Self.send(server, "anna").status == 200)
        }
    }

    @Test("wrong passwords count for the user, whichever name was typed")
    func oneCount() async throws {
        try await Self.with { server in
            for number in Int64(0)..<20 {
                server.moveClock(to: number * 100)
                let name = number % 2 == 0 ? "anna" : Self.address
                #expect(try await Self.send(server, name, "wrong").status == 401)
            }
            for (seconds, status) in [(1960, 401), (2800, 200)] as [(Int64, Int)] {
                server.moveClock(to: seconds)
                for name in ["anna", Self.address] {
                    let answer = try await Self.send(server, name)
                    #expect(answer.status == status, "\(seconds) \(name)")
                }
            }
        }
    }

    @Test("unlocking a user unlocks both names")
    func unlock() async throws {
        try await Self.with { server in
            for name in ["anna", Self.address] {
                for _ in 0..<11 { _ = try await Self.send(server, name, "wrong") }
                #expect(try await Self.send(server, name).status == 429)
            }
            #expect(await server.admin(.post, "/admin/v1/users/username:anna/unlock").status == 200)
            for name in [Self.address, "anna"] {
                #expect(try await Self.send(server, name).status == 200, "\(name)")
            }
        }
    }
}
