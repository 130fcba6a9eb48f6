import Cryptography
import HTTP
import JOSE
import Sessions
import Testing

@testable import Endpoints

/// Every error of the backchannel endpoint (OpenID Connect CIBA section 13).
struct BackchannelErrorTests {
    private typealias Login = BackchannelLogin

    /// What is sent beside `scope=openid`, the status and the error.
    private static let table: [(form: String, status: Int, error: String)] = [
        ("", 400, "invalid_request"),
        ("login_hint=anna&id_token_hint=x", 400, "invalid_request"),
        ("login_hint_token=x", 400, "invalid_request"),
        ("login_hint=anna&login_hint_token=x", 400, "invalid_request"),
        ("login_hint=anna&login_hint=anna", 400, "invalid_request"),
        ("login_hint=nobody", 400, "unknown_user_id"),
        ("login_hint=%00", 400, "invalid_request"),
        ("login_hint=\(String(repeating: "x", count: 5000))", 400, "unknown_user_id"),
        ("login_hint=00000000-0000-4000-8000-000000000000", 400, "unknown_user_id"),
        ("id_token_hint=x", 400, "invalid_request"),
        ("login_hint=anna&user_code=1234", 400, "invalid_request"),
        ("login_hint=anna&request=x.y.z", 400, "invalid_request"),
        ("login_hint=anna&binding_message=\(String(repeating: "a", count: 41))", 400, "invalid_binding_message"),
        ("login_hint=anna&binding_message=a%0Ab", 400, "invalid_binding_message"),
        ("login_hint=anna&binding_message=a%E2%80%AEb", 400, "invalid_binding_message"),
        ("login_hint=anna&binding_message=%F0%9F%98%80", 400, "invalid_binding_message"),
        ("login_hint=anna&requested_expiry=0", 400, "invalid_request"),
        ("login_hint=anna&requested_expiry=-5", 400, "invalid_request"),
        ("login_hint=anna&requested_expiry=x", 400, "invalid_request"),
        ("login_hint=anna&acr_values=password", 400, "unmet_authentication_requirements"),
        ("login_hint=anna&acr_values=phr+password", 400, "unmet_authentication_requirements"),
        ("login_hint=anna&bond=forever", 400, "invalid_request"),
        ("login_hint=anna&second_factor=maybe", 400, "invalid_request"),
        ("login_hint=anna&second_factor=not_required", 400, "invalid_request"),
        ("login_hint=anna&announce_info=x", 400, "invalid_request"),
        ("login_hint=anna&resource=https://other.example", 400, "invalid_target"),
        ("login_hint=anna&scope=openid", 400, "invalid_request"),
    ]

    @Test("Each bad parameter has its error, and leaves no login")
    func parameters() async throws {
        try await Login.with { server, basic, phone in
            for row in Self.table {
                let answer = await Login.request(server, basic, "scope=openid&" + row.form)
                #expect(
                    answer.status == row.status && answer.string("error") == row.error, "\(row.form) \(answer.text)")
            }
            for (scope, error) in [
                ("", "invalid_request"), ("scope=read&", "invalid_request"), ("scope=write&", "invalid_request"),
                ("scope=%22&", "invalid_scope"),
            ] {
                let answer = await Login.request(server, basic, scope + "login_hint=anna")
                #expect(answer.status == 400 && answer.string("error") == error, "\(scope) \(answer.text)")
            }
            #expect(await server.call(.get, "/v1/me/logins", bearer: phone.access).items.isEmpty)
        }
    }

    @Test("An optional parameter that is unknown or too long is bounded, and no error")
    func voluntary() async throws {
        try await Login.with { server, basic, _ in
            for (form, seconds) in [
                ("&requested_expiry=1", 30), ("&requested_expiry=599", 599), ("&requested_expiry=99999999", 600),
            ] as [(String, Int64)] {
                let login = try await Login(server, basic, "scope=openid&login_hint=anna" + form)
                #expect(login.opened.integer("expires_in") == seconds)
                _ = await server.admin(.delete, "/admin/v1/logins/\(login.id)")
            }
            for form in [
                "&acr_values=phone", "&acr_values=phr+phone", "&acr_values=urn:mace:silver", "&unknown=1",
                "&binding_message=\(String(repeating: "%C3%BC", count: 40))",
            ] {
                let login = try await Login(server, basic, "scope=openid&login_hint=ANNA" + form)
                _ = await server.admin(.delete, "/admin/v1/logins/\(login.id)")
            }
        }
    }

    @Test("Only a confidential client with the grant, authenticated in its own way, may ask")
    func clients() async throws {
        try await Login.with { server, basic, _ in
            let form = "scope=openid&login_hint=anna"
            #expect(await Login.request(server, nil, form).status == 401)
            #expect(await Login.request(server, "shop:wrong", form).string("error") == "invalid_client")
            #expect(await Login.request(server, nil, form + "&client_id=shop").status == 401)
            let post = basic.split(separator: ":")[1]
            let pinned = await server.admin(
                .patch, "/admin/v1/clients/shop", #"{"token_endpoint_auth_method_pinned":true}"#)
            #expect(pinned.status == 200)
            #expect(await Login.request(server, nil, form + "&client_id=shop&client_secret=\(post)").status == 401)
            let asPublic = await Login.request(server, nil, form + "&client_id=mobile")
            #expect(asPublic.status == 400 && asPublic.string("error") == "unauthorized_client")
            let without = try #require(
                try await server.makeClient(
                    #"{"client_id":"plain","token_endpoint_auth_method":"client_secret_post","grant_types":["refresh_token"],"scope":"openid"}"#
                ))
            let refused = await Login.request(server, nil, form + "&client_id=plain&client_secret=\(without)")
            #expect(refused.string("error") == "unauthorized_client")
            let given = await server.admin(
                .patch, "/admin/v1/clients/plain", #"{"grant_types":["\#(Login.grant)","refresh_token"]}"#)
            #expect(given.status == 200, "\(given.text)")
            #expect(await Login.request(server, nil, form + "&client_id=plain&client_secret=\(without)").status == 200)
            let made = await server.admin(
                .post, "/admin/v1/clients", #"{"client_id":"open","grant_types":["\#(Login.grant)"],"scope":"openid"}"#)
            #expect(made.status == 400 && made.string("member") == "grant_types", "\(made.text)")
            #expect(await server.form("/oauth/token", "grant_type=\(Login.grant)", basic: basic).status == 400)
        }
    }

    @Test("An assertion names the issuer, this endpoint or the token endpoint, and nothing else")
    func audiences() async throws {
        try await Assertions.with { assertions in
            let server = assertions.server
            let changed = await server.admin(
                .patch, "/admin/v1/clients/signer",
                #"{"grant_types":["\#(Login.grant)","refresh_token"],"scope":"openid"}"#)
            #expect(changed.status == 200, "\(changed.text)")
            let issuer = EndpointsFixture.issuer
            for (number, (audience, isRight)) in [
                (issuer, true), (issuer + "/oauth/bc-authorize", true), (issuer + "/oauth/token", true),
                (issuer + "/oauth/par", false), ("https://other.example/oauth/bc-authorize", false),
                (issuer + "/oauth/bc-authorize/", false),
            ].enumerated() {
                let claims = Assertions.claims.replacing("\"aud\":\"\(issuer)\"", with: "\"aud\":\"\(audience)\"")
                let text = assertions.assertion(claims, jti: "\(number)")
                let answer = await Login.request(
                    server, nil,
                    "scope=openid&login_hint=anna&client_assertion_type=\(Assertions.type)&client_assertion=\(text)")
                #expect((answer.status == 200) == isRight, "\(audience) \(answer.text)")
                if let id = answer.string("login_id") { _ = await server.admin(.delete, "/admin/v1/logins/\(id)") }
                if isRight {
                    let again = await Login.request(
                        server, nil,
                        "scope=openid&login_hint=anna&client_assertion_type=\(Assertions.type)&client_assertion=\(text)"
                    )
                    #expect(again.status == 401)
                }
            }
            // The token endpoint goes on to take the issuer alone.
            let claims = Assertions.claims.replacing(
                "\"aud\":\"\(issuer)\"", with: "\"aud\":\"\(issuer)/oauth/bc-authorize\"")
            #expect(await assertions.ask(assertions.assertion(claims, jti: "t")).status == 401)
        }
    }

    @Test("Switched-off logins are a 403")
    func disabled() async throws {
        try await Login.with { server, basic, phone in
            let disabled = await server.admin(
                .post, "/admin/v1/users/username:anna/disable", #"{"effective":"on_expiry"}"#)
            #expect(disabled.status == 200 || disabled.status == 204, "\(disabled.text)")
            let answer = await Login.request(server, basic)
            #expect(answer.status == 403 && answer.string("error") == "access_denied", "\(answer.text)")
        }
    }
}
