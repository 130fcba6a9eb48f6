import Cryptography
import FoundationEssentials
import HTTP
import Locks
import SQLiteStore
import Sessions
import Testing

@testable import Endpoints

/// No answer shows by its cost or its words which names exist: what takes long, the hash of a password, is computed
/// once for every try, at one cost, and the answers are the same byte by byte.
@Suite struct EqualCostTests {
    /// The account that a login names.
    enum Name: String, CaseIterable {
        /// No account has the name.
        case unknown
        /// An account with another password.
        case anna
        /// An account of an identity provider, without a password.
        case federated
        /// An account that an admin has disabled.
        case disabled
        /// An account with a row of wrong passwords that has come to its end at another node.
        case locked
    }

    private static func with(_ body: (EndpointsFixture) async throws -> Void) async throws {
        try await EndpointsFixture.with { server in
            for name in [Name.disabled, .locked] {
                let answer = await server.admin(
                    .post, "/admin/v1/users", #"{"username":"\#(name)","password":"\#(EndpointsFixture.password)"}"#)
                #expect(answer.status == 201)
            }
            let federated = User(
                id: Identifier(random: .system), username: "federated",
                createdAt: Instant(secondsSinceEpoch: EndpointsFixture.start))
            #expect(try await server.store.insertUser(federated, from: .admin, events: []))
            #expect(await server.admin(.post, "/admin/v1/users/username:disabled/disable", "{}").status == 200)
            _ = try await server.store.updateUser(.username("locked")) { change in
                let start = Instant(secondsSinceEpoch: EndpointsFixture.start)
                change.user.wrongPasswords = User.WrongPasswords(
                    count: 20, lastAt: start, lockedUntil: start + .seconds(900))
            }
            try await body(server)
        }
    }

    /// Each way to show a password.
    enum Way: CaseIterable {
        case login, grant, basic

        func send(_ name: String, _ password: String, to server: EndpointsFixture) async -> Answer {
            switch self {
            case .login:
                await server.call(
                    .post, "/v1/login",
                    #"{"username":"\#(name)","password":"\#(password)","device":{"id":"d"}}"#)
            case .grant:
                await server.form(
                    "/oauth/token",
                    "grant_type=password&client_id=old&username=\(name)&password=\(password.replacing(" ", with: "+"))")
            case .basic:
                await server.call(
                    .put, "/v1/me/login-settings", #"{"logins_disabled":false}"#,
                    fields: ["Authorization": "Basic \(Data("\(name):\(password)".utf8).base64EncodedString())"])
            }
        }
    }

    /// The answer, and what it cost.
    private static func cost(
        _ way: Way, _ name: Name, _ password: String, _ server: EndpointsFixture
    ) async -> (answer: Answer, hashes: [Scrypt]) {
        server.environment.hashes.withLock { $0 = [] }
        let answer = await way.send(name.rawValue, password, to: server)
        return (answer, server.environment.hashes.withLock { $0 })
    }

    @Test(arguments: Way.allCases) func everyNameCostsTheSame(_ way: Way) async throws {
        try await Self.with { server in
            _ = try await server.makeClient(
                #"{"client_id":"old","token_endpoint_auth_method":"none","grant_types":["password","refresh_token"]}"#)
            let one = [try #require(Scrypt(logN: 4, r: 8, p: 1))]
            let expected = await Self.cost(way, .unknown, "wrong", server).answer
            #expect(expected.text.contains(way == .grant ? "invalid_grant" : "invalid_credentials"), "\(expected.text)")
            for password in ["wrong", String(repeating: "long", count: 400), EndpointsFixture.password] {
                for name in Name.allCases {
                    let isRight = password == EndpointsFixture.password && (name == .anna || name == .disabled)
                    let (answer, hashes) = await Self.cost(way, name, password, server)
                    #expect(hashes == one, "\(name) '\(password.prefix(9))' \(answer.text)")
                    if isRight { continue }
                    #expect(answer.status == expected.status, "\(name) '\(password.prefix(9))' \(answer.text)")
                    #expect(answer.text == expected.text, "\(name) '\(password.prefix(9))'")
                }
            }
        }
    }
}
