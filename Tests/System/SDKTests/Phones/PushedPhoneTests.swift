import Foundation
import HostileServer
import SojournClient
import SojournTestKit
import Testing

/// Starts a server, a receiver of its webhook, and a phone: a login is pushed encrypted from the one to the other.
@Suite("A phone to which a login is pushed", .timeLimit(.minutes(5)))
struct PushedPhoneTests {
    private static let password = "a brand new horse"

    private let receiver = HostileServer { _ in [.say("HTTP/1.1 204 Taken\r\nConnection: close\r\n\r\n")] }
    private let folder: PhoneFolder

    init() throws { folder = try PhoneFolder() }

    private func server() async throws -> LocalServer {
        let configuration = folder.url("sojourn.json5")
        let text = #"{webhooks: [{name: "push", url: "\#(receiver.origin)", events: ["login_requested"]}]}"#
        try Data(text.utf8).write(to: configuration)
        var options = LocalServer.Options()
        options.hasTestClock = true
        options.environment = [
            "SOJOURN_CONFIG": configuration.path,
            "SOJOURN_WEBHOOK_SECRET_PUSH": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
        ]
        let server = try await LocalServer.start(options)
        try await server.createUser("anna", password: Self.password)
        return server
    }

    private func phone(_ server: LocalServer, _ name: String = "phone") async throws -> PhoneProcess {
        try FileManager.default.createDirectory(at: folder.url(name), withIntermediateDirectories: true)
        let phone = try PhoneProcess(folder.url(name).path, server: server.url, renewal: "bound", device: name)
        let answer = try await phone.ask(
            "login", ["username": .string("anna"), "password": .string(Self.password)])
        #expect(answer.text("user") == "anna", "\(answer)")
        return phone
    }

    /// The ID of the session of that device.
    private static func session(_ server: LocalServer, _ device: String) async throws -> String {
        let list = JSONValue(parsing: Array(try await server.admin("GET", "users/username:anna/sessions")))
        let items = list?.members?["items"]?.elements ?? []
        let item = items.compactMap(\.members).first { $0["device"]?.members?.text("id") == device }
        return try #require(item?.text("session_id"), "\(items)")
    }

    /// Pushes a login, and returns it with what the webhook brings.
    private func push(
        _ server: LocalServer, to session: String
    ) async throws -> (login: [String: JSONValue], data: [String: JSONValue], body: String) {
        let made = JSONValue(
            parsing: Array(
                try await server.admin(
                    "POST", "test/logins", ["state": .string("STARTING"), "phone_session_id": .string(session)])))
        let login = try #require(made?.members)
        let (data, body) = try await told(of: try #require(login["login"]?.members?.text("login_id")))
        return (login, data, body)
    }

    /// What the webhook brings about a login.
    private func told(of id: String) async throws -> (data: [String: JSONValue], body: String) {
        let end = ContinuousClock.now + .seconds(30)
        while ContinuousClock.now < end {
            for request in receiver.requests {
                let body = request.split(separator: "\r\n\r\n", maxSplits: 1).last.map(String.init) ?? ""
                let data = JSONValue(parsing: Array(body.utf8))?.members?["data"]?.members
                if let data, data.text("session_id") == id { return (data, body) }
            }
            try await Task.sleep(for: .milliseconds(20))
        }
        Issue.record("the webhook brought nothing")
        return ([:], "")
    }

    /// Sends a form with the credentials of a client, and returns the members of the answer.
    private static func post(
        _ server: LocalServer, _ path: String, _ form: String, basic: String
    ) async throws -> [String: JSONValue] {
        let url = try #require(URL(string: server.url.absoluteString + path))
        let fields = [
            HTTPMessageField("Authorization", "Basic " + Data(basic.utf8).base64EncodedString()),
            HTTPMessageField("Content-Type", "application/x-www-form-urlencoded"),
        ]
        let message = HTTPMessage(method: "POST", url: url, fields: fields, body: Array(form.utf8))
        let answer = try await server.transport.send(message, within: .seconds(10))
        return try #require(JSONValue(parsing: answer.body)?.members, "\(answer.status)")
    }

    /// The number that the device shows.
    private static func number(_ server: LocalServer, _ id: String?, _ secret: String?) async throws -> Int64 {
        let (id, secret) = (try #require(id), try #require(secret))
        let url = try #require(URL(string: server.url.absoluteString + "/v1/logins/\(id)"))
        let answer = try await server.transport.send(
            HTTPMessage(
                method: "GET", url: url, fields: [HTTPMessageField("Authorization", "Bearer \(secret)")], body: []),
            within: .seconds(10))
        return try #require(JSONValue(parsing: answer.body)?.members?.integer("number"))
    }

    @Test("the webhook carries a message that this phone alone reads; it starts the login, which the user completes")
    func wholeWay() async throws {
        let server = try await server()
        let (phone, other) = (try await phone(server), try await phone(server, "tablet"))
        for one in [phone, other] { #expect(try await one.ask("register-pushes").isEmpty == false) }
        let session = try await Self.session(server, "phone")
        let (login, data, body) = try await push(server, to: session)
        let items = (data["push"]?.elements ?? []).compactMap(\.members)
        #expect(Set(items.compactMap { $0.text("device_id") }) == ["phone", "tablet"])
        let message = try #require(items.first { $0.text("session_id") == session }?.text("message"))
        let code = try #require(login.text("push"))
        #expect(!body.contains(code) && message.utf8.count < 1024)

        let foreign = try await other.ask("push", ["text": .string(message)])
        #expect(foreign.text("error") == "refused" && foreign.text("reason") == "other_key", "\(foreign)")
        let tampered = String(message.dropLast(5)) + (message.hasSuffix("AAAAA") ? "BBBBB" : "AAAAA")
        let refused = try await phone.ask("push", ["text": .string(tampered)])
        #expect(refused.text("reason") == "invalid_message", "\(refused)")

        let file = folder.url("payload.json")
        try Data(#"{"aps":{"mutable-content":1},"sojourn":"\#(message)"}"#.utf8).write(to: file)
        let started = try await phone.ask("push", ["file": .string(file.path)])
        #expect(started.text("input") == "WAIT_FOR_CONFIRMATION", "\(started)")
        let number = try await Self.number(
            server, login["login"]?.members?.text("login_id"), login.text("device_code"))
        let confirmed = try await phone.ask("confirm", ["number": .integer(number)])
        #expect(confirmed.text("input") == "WAIT_FOR_SECOND_FACTOR", "\(confirmed)")
        let proved = try await phone.ask("prove", ["password": .string(Self.password)])
        #expect(proved.text("state") == "ACTIVE", "\(proved)")
        receiver.stop()
    }

    @Test("the request of a backend (CIBA) reaches the phone encrypted, and the backend gets its tokens")
    func backend() async throws {
        let server = try await server()
        let phone = try await phone(server)
        try await phone.ask("register-pushes")
        let grant = "urn:openid:params:grant-type:ciba"
        let client = JSONValue(
            parsing: Array(
                try await server.admin(
                    "POST", "clients",
                    [
                        "client_id": .string("shop"), "scope": .string("openid"),
                        "token_endpoint_auth_method": .string("client_secret_basic"),
                        "grant_types": .array([.string(grant), .string("refresh_token")]),
                    ])))
        let basic = "shop:" + (client?.members?.text("client_secret") ?? "")
        let asked = try await Self.post(server, "/oauth/bc-authorize", "scope=openid&login_hint=anna", basic: basic)
        let (id, secret) = (try #require(asked.text("login_id")), try #require(asked.text("auth_req_id")))
        let (data, _) = try await told(of: id)
        let message = try #require(data["push"]?.elements?.first?.members?.text("message"))
        #expect(try await phone.ask("push", ["text": .string(message)]).text("input") == "WAIT_FOR_CONFIRMATION")
        let number = try await Self.number(server, id, secret)
        try await phone.ask("confirm", ["number": .integer(number)])
        let proved = try await phone.ask("prove", ["password": .string(Self.password)])
        #expect(proved.text("state") == "ACTIVE", "\(proved)")
        let form = "grant_type=\(grant)&auth_req_id=\(secret)&device_id=shop-1"
        let tokens = try await Self.post(server, "/oauth/token", form, basic: basic)
        #expect(tokens.text("access_token") != nil, "\(tokens)")
        receiver.stop()
    }

    @Test("without a key the webhook has the ID of the login alone; with a new key the phone reads the next message")
    func keys() async throws {
        let server = try await server()
        let phone = try await phone(server)
        let session = try await Self.session(server, "phone")
        let (_, plain, _) = try await push(server, to: session)
        #expect(plain["push"] == nil && plain.text("session_id") != nil, "\(plain)")
        try await phone.ask("register-pushes")
        let (_, data, _) = try await push(server, to: session)
        let old = try #require(data["push"]?.elements?.first?.members?.text("message"))
        // The app was moved to another device, where its keys cannot go.
        try FileManager.default.removeItem(at: folder.url("phone/encryption.p8"))
        let lost = try await phone.ask("push", ["text": .string(old)])
        #expect(lost.text("reason") == "other_key", "\(lost)")
        #expect(try await phone.ask("register-pushes")["error"] == nil)
        let (_, next, _) = try await push(server, to: session)
        let message = try #require(next["push"]?.elements?.first?.members?.text("message"))
        #expect(try await phone.ask("push", ["text": .string(message)]).text("input") == "WAIT_FOR_CONFIRMATION")
        receiver.stop()
    }
}
