import Cryptography
import HTTP
import JOSE
import JSON
import Sessions
import Testing

@testable import Endpoints

/// Token exchange, clause by clause: an identity provider's ID token for a session.
@Suite struct RFC8693Tests {
    private static let grant = "urn:ietf:params:oauth:grant-type:token-exchange"
    private static let type = "urn:ietf:params:oauth:token-type:"

    /// A request of the client `app`, with `{token}` a good ID token.
    private struct Row: Sendable, CustomTestStringConvertible {
        let clause: String
        let says: String
        let form: String
        let status: Int
        let error: String?

        init(_ clause: String, _ says: String, _ form: String, _ status: Int, _ error: String? = nil) {
            (self.clause, self.says, self.form, self.status, self.error) = (clause, says, form, status, error)
        }

        var testDescription: String { "\(clause): \(says)" }
    }

    private static let (orders, mail) = ("https://orders.example", "https://mail.example")
    private static let base = "grant_type=\(grant)&client_id=app"
    private static let subject = "&subject_token={token}&subject_token_type=\(type)id_token"
    private static let rows = [
        Row("2.1 subject_token", "an ID token is exchanged", base + subject, 200),
        Row("2.1 subject_token", "is required", base + "&subject_token_type=\(type)id_token", 400, "invalid_request"),
        Row("2.1 subject_token_type", "is required", base + "&subject_token={token}", 400, "invalid_request"),
        Row(
            "2.1 subject_token_type", "another type is refused",
            base + "&subject_token={token}&subject_token_type=\(type)access_token", 400, "invalid_request"),
        Row(
            "2.1 subject_token_type", "an unknown type is refused",
            base + "&subject_token={token}&subject_token_type=x", 400, "invalid_request"),
        Row(
            "2.1 actor_token", "nobody acts for another",
            base + subject + "&actor_token=x&actor_token_type=\(type)jwt", 400, "invalid_request"),
        Row(
            "2.1 actor_token_type", "must not stand without the token", base + subject + "&actor_token_type=\(type)jwt",
            400, "invalid_request"),
        Row("2.1 scope", "is granted as asked", base + subject + "&scope=read", 200),
        Row("2.1 scope", "beyond the client's is refused", base + subject + "&scope=admin", 400, "invalid_scope"),
        Row(
            "2.1 requested_token_type", "an access token",
            base + subject + "&requested_token_type=\(type)access_token", 200),
        Row(
            "2.1 requested_token_type", "a refresh token",
            base + subject + "&requested_token_type=\(type)refresh_token", 200),
        Row(
            "2.1 requested_token_type", "no other", base + subject + "&requested_token_type=\(type)saml2", 400,
            "invalid_request"),
        Row("2.1 audience", "the server's own", base + subject + "&audience=\(EndpointsFixture.audience)", 200),
        Row(
            "2.2.2", "another audience is no target", base + subject + "&audience=https://other.example", 400,
            "invalid_target"),
        Row(
            "2.1 audience", "the same one twice",
            base + subject + "&audience=\(EndpointsFixture.audience)&audience=\(EndpointsFixture.audience)",
            200),
        Row("2.1 audience", "several", base + subject + "&audience=\(orders)&audience=\(mail)", 200),
        Row(
            "2.1 audience", "beside a resource",
            base + subject + "&audience=\(orders)&resource=\(mail)&audience=\(mail)",
            200),
        Row(
            "2.2.2", "one of several is no target",
            base + subject + "&audience=\(orders)&audience=https://other.example", 400, "invalid_target"),
        Row("2.1 resource", "the server's own", base + subject + "&resource=\(EndpointsFixture.audience)", 200),
        Row(
            "2.2.2", "another resource is no target", base + subject + "&resource=https://other.example", 400,
            "invalid_target"),
        Row(
            "2.2.2", "an invalid subject token is an invalid request",
            base + "&subject_token=a.b.c&subject_token_type=\(type)id_token", 400, "invalid_request"),
        Row(
            "RFC 6749 3.2", "no parameter stands twice", base + subject + "&subject_token={token}", 400,
            "invalid_request"),
        Row(
            "RFC 6749 5.2", "a client that does not name the grant", "grant_type=\(grant)&client_id=mobile" + subject,
            400, "unauthorized_client"),
        Row(
            "RFC 6749 5.2", "a client that is unknown", "grant_type=\(grant)&client_id=nobody" + subject, 401,
            "invalid_client"),
        Row("RFC 6749 5.2", "no client", "grant_type=\(grant)" + subject, 401, "invalid_client"),
    ]

    private static func with(_ body: (ProviderFixture, _ token: String) async throws -> Void) async throws {
        try await ProviderFixture.with { world in
            _ = try await world.server.makeClient(
                #"""
                {"client_id":"app","token_endpoint_auth_method":"none","scope":"read write",
                 "resources":["\#(EndpointsFixture.audience)","\#(orders)","\#(mail)"],"grant_types":["refresh_token","\#(grant)"]}
                """#)
            try await body(world, try world.provider.token())
        }
    }

    @Test(arguments: rows.indices) func row(_ index: Int) async throws {
        let row = Self.rows[index]
        try await Self.with { world, token in
            let answer = await world.server.form("/oauth/token", row.form.replacing("{token}", with: token))
            #expect(answer.status == row.status, "\(row.testDescription): \(answer.text)")
            #expect(answer.string("error") == row.error, "\(row.testDescription)")
        }
    }

    @Test func answer_saysWhatWasIssued() async throws {
        try await Self.with { world, token in
            // Section 2.2.1.
            let access = await world.server.form(
                "/oauth/token", (Self.base + Self.subject).replacing("{token}", with: token) + "&device_id=d&scope=read"
            )
            #expect(access.string("issued_token_type") == Self.type + "access_token")
            #expect(access.string("token_type") == "Bearer")
            #expect(access.string("scope") == "read")
            #expect(access.string("device_id") == "d")
            #expect(access.integer("expires_in") != nil)
            #expect(access.field("Cache-Control") == "no-store")
            let tokens = try Tokens(access)
            #expect(await world.server.call(.get, "/v1/me", bearer: tokens.access).status == 200)
            #expect(await world.server.refresh(tokens.refresh, more: "&client_id=app").status == 200)

            let refresh = await world.server.form(
                "/oauth/token",
                (Self.base + Self.subject).replacing("{token}", with: try world.provider.token(#"{"jti":"2"}"#))
                    + "&requested_token_type=\(Self.type)refresh_token")
            #expect(refresh.string("issued_token_type") == Self.type + "refresh_token")
            #expect(refresh.string("token_type") == "N_A")
            #expect(refresh.string("refresh_token") == nil)
            let issued = try #require(refresh.string("access_token"))
            #expect(await world.server.call(.get, "/v1/me", bearer: issued).status == 401)
            #expect(await world.server.refresh(issued, more: "&client_id=app").status == 200)
        }
    }

    /// Section 2.1: the token is for all services that the request names, be it by `audience` or by `resource`.
    @Test(arguments: [
        ("&audience=\(orders)&audience=\(mail)", [orders, mail]), ("&audience=\(mail)&audience=\(mail)", [mail]),
        ("&audience=\(mail)&resource=\(orders)", [orders, mail]),
    ])
    func audience_isWhatTheTokenIsFor(_ asked: String, _ audience: [String]) async throws {
        try await Self.with { world, token in
            let form = (Self.base + Self.subject).replacing("{token}", with: token) + asked
            let access = try #require(await world.server.form("/oauth/token", form).string("access_token"))
            let claims = try Answer.claims(of: access)
            #expect(Set(claims.strings("aud") ?? claims.string("aud").map { [$0] } ?? []) == Set(audience))
        }
    }

    /// RFC 6749 section 3.2: of no other grant.
    @Test(arguments: ["refresh_token", "client_credentials", "password", "x"])
    func audience_standsTwiceAtAnExchangeAlone(_ grant: String) async throws {
        try await EndpointsFixture.with { server in
            let answer = await server.form("/oauth/token", "grant_type=\(grant)&audience=a&audience=b&client_id=mobile")
            #expect(answer.string("error") == "invalid_request")
            #expect(answer.string("error_description") == "A parameter appears twice.")
        }
    }

    /// Section 2.2.2: what is "unacceptable based on policy" is an invalid request as well; the reason is told as everywhere.
    @Test func aUserThatMayNotLogIn_isAnInvalidRequest() async throws {
        try await Self.with { world, token in
            let form = (Self.base + Self.subject).replacing("{token}", with: token)
            let user = try Tokens(await world.server.form("/oauth/token", form)).userID
            #expect(await world.server.admin(.post, "/admin/v1/users/\(user)/disable", "{}").status == 200)
            let next = try world.provider.token(#"{"jti":"2"}"#)
            let refused = await world.server.form(
                "/oauth/token", (Self.base + Self.subject).replacing("{token}", with: next))
            #expect(refused.status == 400)
            #expect(refused.string("error") == "invalid_request")
            #expect(refused.string("reason") == "login_disabled_by_admin")
            #expect(refused.bool("reauthenticate") == false)
        }
    }

    @Test func nonce_isCompared() async throws {
        try await ProviderFixture.with { world in
            _ = try await world.server.makeClient(
                #"{"client_id":"app","token_endpoint_auth_method":"none","grant_types":["refresh_token","\#(Self.grant)"]}"#
            )
            for (nonce, status) in [("n", 200), ("m", 400)] {
                let token = try world.provider.token(#"{"nonce":"n","jti":"\#(nonce)"}"#)
                let form = (Self.base + Self.subject).replacing("{token}", with: token) + "&nonce=\(nonce)"
                #expect(await world.server.form("/oauth/token", form).status == status)
            }
        }
    }
}
