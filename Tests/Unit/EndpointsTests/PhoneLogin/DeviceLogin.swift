import Cryptography
import HTTP
import Sessions
import Testing

@testable import Endpoints

/// A login of the device `tv` with anna's phone.
struct DeviceLogin: Sendable {
    static let grant = "urn:ietf:params:oauth:grant-type:device_code"

    let server: EndpointsFixture
    let id: String
    let secret: String
    let opened: Answer

    static func makeClient(_ server: EndpointsFixture, _ more: String = "") async throws {
        _ = try await server.makeClient(
            #"""
            {"client_id":"tv","client_name":"TV","grant_types":["\#(grant)","refresh_token"],
             "scope":"read write account","minimum_bond":"none"\#(more)}
            """#)
    }

    /// Opens the login.
    init(
        _ server: EndpointsFixture, _ more: String = "", scope: String = "read", fields: Fields = Fields(),
        from address: String = "192.0.2.1"
    ) async throws {
        try self.init(
            server,
            opened: await server.form(
                "/oauth/device_authorization", "client_id=tv&scope=\(scope)" + more, fields: fields, address: address))
    }

    /// A login that is open.
    init(_ server: EndpointsFixture, opened: Answer) throws {
        (self.server, self.opened) = (server, opened)
        #expect(opened.status == 200, "\(opened.text)")
        id = try #require(opened.string("login_id"))
        secret = try #require(opened.string("device_code"))
    }

    /// Gives `body` a server with the client and a phone.
    static func with(
        _ body: (EndpointsFixture, Tokens) async throws -> Void
    ) async throws {
        try await EndpointsFixture.with { server in
            try await makeClient(server)
            try await body(server, try await server.logIn())
        }
    }

    /// What the device sees.
    func look(_ query: String = "") async -> Answer {
        await server.call(.get, "/v1/logins/\(id)\(query)", bearer: secret)
    }

    /// The phone scans the picture.
    func scan(_ phone: Tokens, source: String = "qr", code: String? = nil, more: String = "", key: String? = nil) async
        -> Answer
    {
        var fields = Fields()
        if let key { fields.append("Idempotency-Key", key) }
        let shown: String?
        if let code { shown = code } else { shown = await look().string("qr") }
        return await server.call(
            .post, "/v1/me/logins", #"{"code":"\#(shown ?? "")","source":"\#(source)"\#(more)}"#, bearer: phone.access,
            fields: fields)
    }

    /// The phone acts.
    func act(_ act: String, _ json: String? = nil, _ phone: Tokens, key: String? = nil) async -> Answer {
        var fields = Fields()
        if let key { fields.append("Idempotency-Key", key) }
        return await server.call(.post, "/v1/me/logins/\(id)/\(act)", json, bearer: phone.access, fields: fields)
    }

    func number() async throws -> Int64 { try #require(await look().integer("number")) }

    /// Scans, confirms with the number, and proves presence by the password.
    func approve(_ phone: Tokens) async throws {
        let scanned = await scan(phone)
        #expect(scanned.status == 200, "\(scanned.text)")
        let number = try await number()
        let confirmed = await act("confirm", #"{"number":\#(number)}"#, phone)
        #expect(confirmed.status == 200, "\(confirmed.text)")
        let proved = await act("second-factor", #"{"password":"\#(EndpointsFixture.password)"}"#, phone)
        #expect(proved.status == 200, "\(proved.text)")
        #expect(proved.string("state") == "ACTIVE" && proved.string("history") == "FAIL")
    }

    /// The device comes for its tokens.
    func collect(
        _ more: String = "&device_id=tv-1", key: String? = nil, fields: Fields = Fields()
    ) async -> Answer {
        var fields = fields
        if let key { fields.append("Idempotency-Key", key) }
        return await server.form(
            "/oauth/token", "grant_type=\(Self.grant)&client_id=tv&device_code=\(secret)\(more)", fields: fields)
    }

    /// A whole login: the tokens of the device.
    static func complete(
        _ server: EndpointsFixture, _ phone: Tokens, _ more: String = "", device: String = "tv-1",
        scope: String = "read"
    ) async throws -> (login: DeviceLogin, tokens: Tokens) {
        let login = try await DeviceLogin(server, more, scope: scope)
        try await login.approve(phone)
        let answer = await login.collect("&device_id=\(device)")
        #expect(answer.status == 200, "\(answer.text)")
        return (login, try Tokens(answer))
    }

    /// What an admin sees.
    func row() async -> Answer { await server.admin(.get, "/admin/v1/logins/\(id)") }
}
