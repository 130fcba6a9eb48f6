import FoundationEssentials
import HTTP
import Sessions
import Testing

@testable import Endpoints

/// A server with mails, passkeys and sign-ups, on which the client `mobile` has everything that a public client can have.
struct CORSWorld: Sendable {
    let mailbox: MailboxFixture

    var server: EndpointsFixture { mailbox.server }

    /// A JSON request.
    func json(_ method: HTTP.Method, _ path: String, _ body: String?, bearer: String? = nil) -> Request {
        var fields = Fields()
        if body != nil { fields.append("Content-Type", "application/json") }
        if let bearer { fields.append("Authorization", "Bearer \(bearer)") }
        return Request(method, path, fields: fields, body: Array((body ?? "").utf8))
    }

    /// A form; `basic` is `id:secret`.
    func form(_ path: String, _ form: String, basic: String? = nil) -> Request {
        var fields: Fields = ["Content-Type": "application/x-www-form-urlencoded"]
        if let basic { fields.append("Authorization", "Basic " + Data(basic.utf8).base64EncodedString()) }
        return Request(.post, path, fields: fields, body: Array(form.utf8))
    }

    /// A claimed invitation, and the path and secret of its phone.
    func enrolment(startsByHand: Bool = false) async throws -> (path: String, secret: String) {
        let claimed = await server.send(try await claim(startsByHand: startsByHand))
        let id = try #require(claimed.string("enrolment", "login_id"), "\(claimed.text)")
        return ("/v1/enrolments/\(id)", try #require(claimed.string("enrolment_token")))
    }

    func claim(startsByHand: Bool = false) async throws -> Request {
        let made = await server.admin(.post, "/admin/v1/invitations", #"{"username":"ada"}"#)
        let code = try #require(made.string("qr"), "\(made.text)")
        return json(
            .post, "/v1/enrolments",
            #"{"code":"\#(code)","source":"qr","device_id":"new-1","manual_start":\#(startsByHand)}"#)
    }

    func deviceLogin() async throws -> (id: String, secret: String) {
        let opened = await server.form("/oauth/device_authorization", "client_id=mobile&scope=read")
        return (
            try #require(opened.string("login_id"), "\(opened.text)"), try #require(opened.string("device_code"))
        )
    }
}

/// A request that the client `mobile` may send, for a route that notes its client itself.
struct CORSRecipe: Sendable {
    let route: String
    let name: String
    let request: @Sendable (CORSWorld) async throws -> Request

    init(
        _ route: String, _ note: String = "", _ request: @escaping @Sendable (CORSWorld) async throws -> Request
    ) {
        (self.route, self.request) = (route, request)
        name = note.isEmpty ? route : "\(route) (\(note))"
    }

    /// Gives `body` a new server.
    static func with(_ body: (CORSWorld) async throws -> Void) async throws {
        let passkeys = PasskeyPolicy(rpID: "example.org", origins: ["https://example.org"])
        try await MailboxFixture.with(passkeys: passkeys) { mailbox in
            let changed = await mailbox.server.admin(
                .patch, "/admin/v1/clients/mobile",
                #"""
                {"grant_types":["refresh_token","login","password","authorization_code","\#(DeviceLogin.grant)"],
                 "scope":"openid read write account","redirect_uris":["https://own.example/cb"]}
                """#)
            #expect(changed.status == 200, "\(changed.text)")
            try await mailbox.server.makeOrigins()
            try await body(CORSWorld(mailbox: mailbox))
        }
    }

    static let all = oauth + logins + proofs + phones

    private static let oauth = [
        CORSRecipe("POST /oauth/token", "a renewal without the client") { world in
            let token = try await world.server.logIn().refresh
            return world.form("/oauth/token", "grant_type=refresh_token&refresh_token=\(token)")
        },
        CORSRecipe("POST /oauth/token", "a renewal with the client") { world in
            let token = try await world.server.logIn().refresh
            return world.form("/oauth/token", "grant_type=refresh_token&client_id=mobile&refresh_token=\(token)")
        },
        CORSRecipe("POST /oauth/token", "a password") { world in
            let password = PercentEncoding.encode(EndpointsFixture.password)
            return world.form(
                "/oauth/token", "grant_type=password&client_id=mobile&username=anna&password=\(password)")
        },
        CORSRecipe("POST /oauth/token", "a client with a secret") { world in
            let secret = try await world.server.makeClient(
                #"""
                {"client_id":"backend","grant_types":["client_credentials"],"allowed_origins":["https://own.example"],
                 "token_endpoint_auth_method":"client_secret_basic"}
                """#)
            return world.form("/oauth/token", "grant_type=client_credentials", basic: "backend:\(secret ?? "")")
        },
        CORSRecipe("POST /oauth/revoke") { world in
            world.form("/oauth/revoke", "client_id=mobile&token=\(try await world.server.logIn().refresh)")
        },
        CORSRecipe("POST /oauth/par") { world in
            world.form(
                "/oauth/par",
                "client_id=mobile&response_type=code&redirect_uri=https%3A%2F%2Fown.example%2Fcb&scope=read&state=s"
                    + "&code_challenge=\(PageLoginFixture.challenge)&code_challenge_method=S256")
        },
        CORSRecipe("POST /oauth/device_authorization") { world in
            world.form("/oauth/device_authorization", "client_id=mobile&scope=read")
        },
        CORSRecipe("GET /oauth/userinfo") { world in
            world.json(.get, "/oauth/userinfo", nil, bearer: try await world.server.logIn().access)
        },
        CORSRecipe("POST /oauth/userinfo", "the token in the form") { world in
            world.form("/oauth/userinfo", "access_token=\(try await world.server.logIn().access)")
        },
        CORSRecipe("POST /oauth/userinfo", "the token in the field") { world in
            world.json(.post, "/oauth/userinfo", nil, bearer: try await world.server.logIn().access)
        },
    ]

    private static let logins = [
        CORSRecipe("POST /v1/login") { world in
            world.json(
                .post, "/v1/login",
                #"{"username":"anna","password":"\#(EndpointsFixture.password)","device":{"id":"phone-1"}}"#)
        },
        CORSRecipe("POST /v1/login/totp") { world in
            await world.server.setPolicy(.required)
            let token = try #require(await world.server.logInStep().string("login_token"))
            return world.json(
                .post, "/v1/login/totp", #"{"login_token":"\#(token)","device":{"id":"phone-2"}}"#)
        },
        CORSRecipe("POST /v1/refresh") { world in
            world.json(.post, "/v1/refresh", #"{"refresh_token":"\#(try await world.server.logIn().refresh)"}"#)
        },
        CORSRecipe("POST /v1/refresh", "a proof of presence") { world in
            let token = try await world.server.logIn().refresh
            return world.json(
                .post, "/v1/refresh", #"{"refresh_token":"\#(token)","password":"\#(EndpointsFixture.password)"}"#)
        },
        CORSRecipe("POST /v1/logout", "the refresh token") { world in
            world.json(.post, "/v1/logout", #"{"refresh_token":"\#(try await world.server.logIn().refresh)"}"#)
        },
        CORSRecipe("POST /v1/logout", "the access token") { world in
            world.json(.post, "/v1/logout", nil, bearer: try await world.server.logIn().access)
        },
        CORSRecipe("POST /v1/passkeys/options") { world in world.json(.post, "/v1/passkeys/options", "{}") },
        CORSRecipe("POST /v1/password-reset") { world in
            let made = await world.server.admin(.post, "/admin/v1/users/username:anna/password-reset")
            let token = try #require(made.string("reset_token"), "\(made.text)")
            return world.json(
                .post, "/v1/password-reset", #"{"reset_token":"\#(token)","new_password":"another horse"}"#)
        },
    ]

    private static let proofs = [
        CORSRecipe("POST /v1/verifications") { world in
            world.json(.post, "/v1/verifications", #"{"purpose":"reset","email":"anna@example.org"}"#)
        },
        CORSRecipe("POST /v1/verifications/{verification_id}/resend") { world in
            let asked = try await world.mailbox.ask("reset", "anna@example.org")
            return world.json(.post, "/v1/verifications/\(asked.id)/resend", nil, bearer: asked.token)
        },
        CORSRecipe("POST /v1/verifications/{verification_id}/code") { world in
            let asked = try await world.mailbox.ask("sign_up", "b@example.org")
            let code = try await world.mailbox.code(asked)
            return world.json(
                .post, "/v1/verifications/\(asked.id)/code", #"{"code":"\#(code)"}"#, bearer: asked.token)
        },
        CORSRecipe("GET /v1/verifications/{verification_id}") { world in
            let asked = try await world.mailbox.ask("reset", "anna@example.org")
            return world.json(.get, "/v1/verifications/\(asked.id)", nil, bearer: asked.token)
        },
        CORSRecipe("POST /v1/sign-up") { world in
            let asked = try await world.mailbox.proven("sign_up", "b@example.org")
            return world.json(
                .post, "/v1/sign-up",
                #"{"verification_token":"\#(asked.token)","password":"battery staple","device":{"id":"phone-9"}}"#)
        },
        CORSRecipe("POST /v1/sign-up/passkey-options") { world in
            let asked = try await world.mailbox.proven("sign_up", "b@example.org")
            return world.json(
                .post, "/v1/sign-up/passkey-options", #"{"verification_token":"\#(asked.token)"}"#)
        },
    ]

    private static let phones = [
        CORSRecipe("GET /v1/logins/{login_id}") { world in
            let login = try await world.deviceLogin()
            return world.json(.get, "/v1/logins/\(login.id)", nil, bearer: login.secret)
        },
        CORSRecipe("POST /v1/enrolments") { world in try await world.claim() },
        CORSRecipe("GET /v1/enrolments/{login_id}") { world in
            let (path, secret) = try await world.enrolment()
            return world.json(.get, path, nil, bearer: secret)
        },
        CORSRecipe("POST /v1/enrolments/{login_id}/start") { world in
            let (path, secret) = try await world.enrolment(startsByHand: true)
            return world.json(.post, path + "/start", nil, bearer: secret)
        },
        CORSRecipe("POST /v1/enrolments/{login_id}/confirm") { world in
            let (path, secret) = try await world.enrolment()
            return world.json(.post, path + "/confirm", nil, bearer: secret)
        },
        CORSRecipe("POST /v1/enrolments/{login_id}/stop") { world in
            let (path, secret) = try await world.enrolment()
            return world.json(.post, path + "/stop", nil, bearer: secret)
        },
        CORSRecipe("POST /v1/enrolments/{login_id}/second-factor") { world in
            let (path, secret) = try await world.enrolment()
            #expect(await world.server.send(world.json(.post, path + "/confirm", nil, bearer: secret)).status == 200)
            return world.json(
                .post, path + "/second-factor", #"{"device":{"id":"new-1"},"password":"\#(EnrolmentTests.password)"}"#,
                bearer: secret)
        },
    ]
}
