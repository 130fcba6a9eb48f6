import Cryptography
import HTTP
import JOSE
import Locks
import Sessions
import Synchronization
import Telemetry
import Testing

@testable import Endpoints
@testable import StoreConformance

/// ID tokens of refreshes (OpenID Connect Core section 12.2) and of the grants without an authorization request, from the session's
/// row alone.
@Suite struct RenewedIDTokenTests {
    private static func claims(_ answer: Answer) throws -> Answer {
        try Answer.claims(of: try #require(answer.string("id_token"), "\(answer.text)"))
    }

    private static func widen(_ server: EndpointsFixture, _ client: String = Client.mobileID) async {
        let answer = await server.admin(
            .patch, "/admin/v1/clients/\(client)", #"{"scope":"openid email read account"}"#)
        #expect(answer.status == 200, "\(answer.text)")
    }

    @Test("a refresh answers an ID token with the claims of now and the login of before, signed as the first one")
    func refresh() async throws {
        try await PageLoginFixture.with(#","id_token_signed_response_alg":"RS256""#) { login in
            let tokens = try Tokens(await login.exchange(try await login.code()))
            let first = try Self.claims(tokens.answer)
            _ = await login.server.admin(
                .patch, "/admin/v1/users/username:anna", #"{"email":"anna@new.example"}"#)
            login.server.moveClock(to: 4000)

            let answer = await login.server.refresh(tokens.refresh)

            let claims = try Self.claims(answer)
            for name in ["iss", "sub", "aud", "azp", "sid", "acr"] {
                #expect(claims.string(name) == first.string(name))
            }
            #expect(claims.strings("amr") == ["pwd"] && claims.string("acr") == "password")
            #expect(claims.integer("auth_time") == EndpointsFixture.start)
            #expect(claims.integer("iat") == EndpointsFixture.start + 4000)
            #expect(claims.integer("exp") == EndpointsFixture.start + 4300)
            #expect(first.string("nonce") == "n-1" && !claims.names.contains("nonce"))
            #expect(claims.string("email") == "anna@new.example" && claims.string("at_hash") != first.string("at_hash"))
            let token = try JWT.parse(try #require(answer.string("id_token")))
            #expect(token.header.alg == .rs256)
            // It is a hint like the first one.
            let hint = "/oauth/logout?id_token_hint=\(answer.string("id_token") ?? "")"
            #expect(await Browser(login.server).get(hint).status == 200)
        }
    }

    @Test("without `openid` in the scope, with `id_token=false`, and at the calls of apps there is none")
    func declined() async throws {
        try await EndpointsFixture.with { server in
            let plain = try await server.logIn()
            #expect(await server.refresh(plain.refresh).string("id_token") == nil)
            await Self.widen(server)
            let tokens = try await server.logIn(device: "phone-2")
            #expect(tokens.answer.string("scope")?.hasPrefix("openid") == true)
            #expect(tokens.answer.string("id_token") == nil)
            #expect(await server.refresh(tokens.refresh).string("id_token") != nil)
            for more in ["&id_token=false", "&scope=email+read"] {
                let answer = await server.refresh(tokens.refresh, more: more)
                #expect(answer.status == 200 && answer.string("id_token") == nil, "\(more): \(answer.text)")
            }
            let app = await server.call(.post, "/v1/refresh", #"{"refresh_token":"\#(tokens.refresh)"}"#)
            #expect(app.status == 200 && app.string("id_token") == nil)
            // What an admin takes from the client is gone.
            _ = await server.admin(.patch, "/admin/v1/clients/mobile", #"{"scope":"email read account"}"#)
            #expect(await server.refresh(tokens.refresh).string("id_token") == nil)
        }
    }

    @Test("a device that a phone lets in gets an ID token, unless it declines, and again at its refresh")
    func device() async throws {
        try await DeviceLogin.with { server, phone in
            await Self.widen(server, "tv")
            let login = try await DeviceLogin(server, scope: "openid+email")
            try await login.approve(phone)
            let tokens = try Tokens(await login.collect())
            server.moveClock(to: 90)
            for (answer, time) in [(tokens.answer, Int64(0)), (await server.refresh(tokens.refresh), 90)] {
                let claims = try Self.claims(answer)
                #expect(claims.string("sub") == phone.userID && claims.string("aud") == "tv")
                #expect(claims.string("sid") == login.id && claims.string("email") == "anna@example.org")
                #expect(claims.string("acr") == "phone" && claims.strings("amr") == ["phone"])
                #expect(claims.integer("auth_time") == EndpointsFixture.start && !claims.names.contains("nonce"))
                #expect(claims.integer("iat") == EndpointsFixture.start + time)
            }
            let other = try await DeviceLogin(server, scope: "openid")
            try await other.approve(phone)
            let declined = await other.collect("&device_id=tv-2&id_token=false")
            #expect(declined.status == 200 && declined.string("id_token") == nil)
            let narrow = try await DeviceLogin(server, scope: "read")
            try await narrow.approve(phone)
            #expect(await narrow.collect("&device_id=tv-3").string("id_token") == nil)
        }
    }

    @Test("a login by the password grant gets an ID token, unless it declines, and another one at its refresh")
    func passwordGrant() async throws {
        try await EndpointsFixture.with { server in
            _ = try await server.makeClient(
                #"{"client_id":"old","scope":"openid email read","grant_types":["password","refresh_token"]}"#)
            func logIn(_ more: String) async -> Answer {
                let password = EndpointsFixture.password.replacing(" ", with: "+")
                return await server.form(
                    "/oauth/token", "grant_type=password&client_id=old&username=anna&password=\(password)" + more)
            }
            let tokens = try Tokens(await logIn("&scope=openid+email"))
            server.moveClock(to: 90)
            for answer in [tokens.answer, await server.refresh(tokens.refresh, more: "&client_id=old")] {
                let claims = try Self.claims(answer)
                #expect(claims.string("sub") == tokens.userID && claims.string("aud") == "old")
                #expect(claims.string("sid") == tokens.sessionID && claims.string("email") == "anna@example.org")
                #expect(claims.string("acr") == "password" && claims.strings("amr") == ["pwd"])
                #expect(claims.integer("auth_time") == EndpointsFixture.start && !claims.names.contains("nonce"))
            }
            for more in ["&scope=openid&id_token=false", "&scope=read"] {
                let answer = await logIn(more)
                #expect(answer.status == 200 && answer.string("id_token") == nil, "\(more): \(answer.text)")
            }
        }
    }

    @Test("a token exchange gets an ID token beside the access token, and none beside a refresh token")
    func tokenExchange() async throws {
        try await ProviderFixture.with { world in
            let type = "urn:ietf:params:oauth:token-type:"
            _ = try await world.server.makeClient(
                #"""
                {"client_id":"app","scope":"openid email read",
                 "grant_types":["urn:ietf:params:oauth:grant-type:token-exchange","refresh_token"]}
                """#)
            func exchange(_ more: String) async throws -> Answer {
                let form =
                    "grant_type=urn:ietf:params:oauth:grant-type:token-exchange&client_id=app&subject_token_type=\(type)id_token"
                // A token serves once.
                let subject = try world.provider.token(#"{"jti":"\#(more.hashValue)"}"#)
                return await world.server.form("/oauth/token", form + "&subject_token=\(subject)" + more)
            }
            let tokens = try Tokens(await exchange("&scope=openid"))
            let claims = try Self.claims(tokens.answer)
            #expect(claims.string("sub") == tokens.userID && claims.string("sid") == tokens.sessionID)
            #expect(claims.string("iss") == EndpointsFixture.issuer && claims.string("acr") == nil)
            for more in [
                "&scope=openid&id_token=false", "&scope=read",
                "&scope=openid&requested_token_type=\(type)refresh_token",
            ] {
                let answer = try await exchange(more)
                #expect(answer.status == 200 && answer.string("id_token") == nil, "\(more): \(answer.text)")
            }
        }
    }

    @Test("`auth_time` is that of the login, and absent once a later login at the provider has taken its place")
    func authenticationTime() async throws {
        try await ProviderFixture.with { world in
            let server = world.server
            await Self.widen(server)
            let tokens = try Tokens(await world.logIn(more: #","authentication_mode":"PASSWORD""#))
            let first = try Self.claims(await server.refresh(tokens.refresh))
            #expect(first.integer("auth_time") == EndpointsFixture.start && first.string("acr") == nil)
            server.moveClock(to: 3600)
            let proof = try world.provider.token(
                #"{"jti":"2","auth_time":\#(EndpointsFixture.start + 3500)}"#, at: EndpointsFixture.start + 3600)

            let proved = await server.refresh(tokens.refresh, more: "&provider=acme&id_token=\(proof)")

            #expect(proved.status == 200 && proved.string("id_token") == nil, "\(proved.text)")
            let later = await server.refresh(proved.string("refresh_token") ?? "")
            let claims = try Self.claims(later)
            #expect(!claims.names.contains("auth_time") && claims.string("sub") == tokens.userID)
            // The access token says when the user was there last.
            let access = try Answer.claims(of: try #require(later.string("access_token")))
            #expect(access.integer("auth_time") == EndpointsFixture.start + 3500)
        }
    }

    @Test("a password that is given later moves no `auth_time`")
    func laterPassword() async throws {
        try await EndpointsFixture.with { server in
            await Self.widen(server)
            let tokens = try await server.logIn(more: #","authentication_mode":"PASSWORD""#)
            server.moveClock(to: 3600)
            let answer = await server.refresh(tokens.refresh, more: "&password=correct+horse")
            #expect(try Self.claims(answer).integer("auth_time") == EndpointsFixture.start, "\(answer.text)")
        }
    }

    @Test("a refresh with an ID token calls the store as often as one without, and writes no more")
    func cost() async throws {
        try await EndpointsFixture.with { server in
            await Self.widen(server)
            let tokens = try await server.logIn()
            let store = ObservedStore(server.store)
            let counting = server.over(store)
            func cost(
                _ more: String
            ) async -> (answer: Answer, calls: [ObservedStore.Call], transactions: Int, writes: Int) {
                let environment = server.environment
                let before = (
                    environment.transactions.load(ordering: .relaxed), environment.writes.load(ordering: .relaxed)
                )
                store.forget()
                let answer = await counting.refresh(tokens.refresh, more: more)
                return (
                    answer, store.calls, environment.transactions.load(ordering: .relaxed) - before.0,
                    environment.writes.load(ordering: .relaxed) - before.1
                )
            }
            // The first one is confirmed by the store, once.
            server.moveClock(to: 10)
            _ = await cost("")
            let plain = await cost("&id_token=false")
            let full = await cost("")
            #expect(plain.answer.string("id_token") == nil && full.answer.string("id_token") != nil)
            #expect(full.calls == [.changeSession] && plain.calls == full.calls)
            #expect(full.transactions == 1 && full.transactions == plain.transactions)
            #expect(full.writes == 0 && full.writes == plain.writes)
        }
    }
}
