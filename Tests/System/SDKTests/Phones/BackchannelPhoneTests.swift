import Foundation
#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif
import SojournClient
import SojournTestKit
import Testing

/// A phone with the SDK that a backend asks, by the program itself.
@Suite("A phone that a backend asks", .timeLimit(.minutes(5)))
struct BackchannelPhoneTests {
    private static let password = "correct horse battery"
    private static let grant = "urn:openid:params:grant-type:ciba"

    /// A backend without any library.
    private struct Backend {
        let server: LocalServer
        let secret: String

        init(_ server: LocalServer) async throws {
            self.server = server
            let client = try await server.admin(
                "POST", "clients",
                [
                    "client_id": .string("shop"), "token_endpoint_auth_method": .string("client_secret_post"),
                    "grant_types": .array([.string(grant), .string("refresh_token")]), "scope": .string("openid"),
                ])
            secret = try #require(JSONValue(parsing: Array(client))?.members?.text("client_secret"))
        }

        func send(_ path: String, _ form: String) async throws -> [String: JSONValue] {
            let message = HTTPMessage(
                method: "POST", url: server.url.appendingPathComponent(path),
                fields: [HTTPMessageField("Content-Type", "application/x-www-form-urlencoded")],
                body: Array("client_id=shop&client_secret=\(secret)&\(form)".utf8))
            return try await read(message)
        }

        /// The number that it shows.
        func number(_ login: String, _ request: String) async throws -> Int {
            let message = HTTPMessage(
                method: "GET", url: server.url.appendingPathComponent("v1/logins/" + login),
                fields: [HTTPMessageField("Authorization", "Bearer " + request)], body: [])
            return Int(try #require(try await read(message).integer("number")))
        }

        private func read(_ message: HTTPMessage) async throws -> [String: JSONValue] {
            let answer = try await server.transport.send(message, within: .seconds(60))
            return try #require(JSONValue(parsing: answer.body)?.members)
        }
    }

    @Test("the SDK finds the request, the user approves it, and the backend collects after a restart of the server")
    func approval() async throws {
        let server = try await LocalServer.start(LocalServer.Options())
        try await server.createUser("anna", password: Self.password)
        let backend = try await Backend(server)
        let folder = try PhoneFolder()
        let app = Sojourn(
            SojournConfiguration(server: server.url), store: FileStore(directory: folder.url()),
            keys: SoftwareKeys(directory: folder.url()))
        _ = try await app.signIn(username: "anna", password: Self.password)
        let asked = try await backend.send(
            "oauth/bc-authorize", "scope=openid&login_hint=anna&binding_message=Order%204711")
        let (login, request) = (try #require(asked.text("login_id")), try #require(asked.text("auth_req_id")))
        let waiting = try await app.logins()
        #expect(waiting.map(\.id) == [login] && waiting.first?.bindingMessage == "Order 4711")
        let (data, _) = try await app.data(
            for: URLRequest(url: server.url.appendingPathComponent("v1/me/logins/" + login)))
        let found = try #require(JSONValue(parsing: Array(data))?.members)
        let message = JSONValue.object(["login": .string(try #require(found.text("push")))])
        let session = try #require(try await app.startSession(push: Data(message.bytes)))
        for await status in session.statuses where status.input == .confirmation { break }
        #expect(session.details?.bindingMessage == "Order 4711")
        try await session.confirm(number: try await backend.number(login, request))
        try await session.enterSecondFactor(password: Self.password)
        #expect(session.status.state == .active)
        try await server.restart()
        let form = "grant_type=\(Self.grant)&auth_req_id=\(request)&device_id=shop-1"
        let tokens = try await backend.send("oauth/token", form)
        #expect(tokens.text("session_id") == login && tokens.text("id_token") != nil, "\(tokens)")
        #expect(try await backend.send("oauth/token", form).text("error") == "invalid_grant")
        let logins = try await app.logins()
        #expect(logins.map(\.id) == [login])
    }
}
