import HTTP
import Locks
import Sessions
import Testing

@testable import Endpoints

/// A login of anna that the client `shop` has requested by the back channel.
struct BackchannelLogin: Sendable {
    static let grant = "urn:openid:params:grant-type:ciba"

    let server: EndpointsFixture
    /// `id:secret` of the client.
    let basic: String
    let id: String
    let secret: String
    let opened: Answer

    /// Makes the client. Returns its credentials for HTTP Basic.
    static func makeClient(_ server: EndpointsFixture, _ id: String = "shop", _ more: String = "") async throws
        -> String
    {
        let secret = try await server.makeClient(
            #"""
            {"client_id":"\#(id)","client_name":"Shop","token_endpoint_auth_method":"client_secret_basic",
             "grant_types":["\#(grant)","refresh_token"],"scope":"openid email read"\#(more)}
            """#)
        return id + ":" + (try #require(secret))
    }

    /// Gives `body` a server with the client and a phone.
    static func with(
        _ more: String = "", _ body: (EndpointsFixture, String, Tokens) async throws -> Void
    ) async throws {
        try await EndpointsFixture.with { server in
            let basic = try await makeClient(server, "shop", more)
            try await body(server, basic, try await server.logIn())
        }
    }

    /// Sends a request for a login.
    static func request(
        _ server: EndpointsFixture, _ basic: String?, _ form: String = "scope=openid+read&login_hint=anna"
    ) async -> Answer {
        await server.form("/oauth/bc-authorize", form, basic: basic)
    }

    /// Requests the login.
    init(_ server: EndpointsFixture, _ basic: String, _ form: String = "scope=openid+read&login_hint=anna") async throws
    {
        try self.init(server, basic, opened: await Self.request(server, basic, form))
    }

    /// A login that was requested.
    init(_ server: EndpointsFixture, _ basic: String, opened: Answer) throws {
        (self.server, self.basic, self.opened) = (server, basic, opened)
        #expect(opened.status == 200, "\(opened.text)")
        id = try #require(opened.string("login_id"))
        secret = try #require(opened.string("auth_req_id"))
        server.environment.secrets.withLock { [secret] in _ = $0.insert(secret) }
    }

    /// What the client sees.
    func look() async -> Answer { await server.call(.get, "/v1/logins/\(id)", bearer: secret) }

    /// What the phone finds in its list.
    func found(_ phone: Tokens) async throws -> Answer {
        let list = await server.call(.get, "/v1/me/logins", bearer: phone.access)
        return try #require(list.items.first { $0.string("login_id") == id }, "\(list.text)")
    }

    /// The phone claims what it found.
    func claim(_ phone: Tokens, code: String? = nil, source: String = "push") async throws -> Answer {
        let found: String?
        if let code { found = code } else { found = try await self.found(phone).string("push") }
        return await server.call(
            .post, "/v1/me/logins", #"{"code":"\#(found ?? "")","source":"\#(source)"}"#, bearer: phone.access)
    }

    /// The phone acts.
    func act(_ act: String, _ json: String? = nil, _ phone: Tokens) async -> Answer {
        await server.call(.post, "/v1/me/logins/\(id)/\(act)", json, bearer: phone.access)
    }

    /// Claims, confirms with the number, and proves presence by the password.
    func approve(_ phone: Tokens) async throws {
        let claimed = try await claim(phone)
        #expect(claimed.status == 200, "\(claimed.text)")
        let number = try #require(await look().integer("number"))
        let confirmed = await act("confirm", #"{"number":\#(number)}"#, phone)
        #expect(confirmed.string("input") == "WAIT_FOR_SECOND_FACTOR", "\(confirmed.text)")
        let proved = await act("second-factor", #"{"password":"\#(EndpointsFixture.password)"}"#, phone)
        #expect(proved.string("state") == "ACTIVE", "\(proved.text)")
    }

    /// The client comes for its tokens.
    func collect(_ more: String = "&device_id=shop-1", basic: String? = nil, fields: Fields = Fields()) async -> Answer
    {
        await server.form(
            "/oauth/token", "grant_type=\(Self.grant)&auth_req_id=\(secret)\(more)", basic: basic ?? self.basic,
            fields: fields)
    }
}
