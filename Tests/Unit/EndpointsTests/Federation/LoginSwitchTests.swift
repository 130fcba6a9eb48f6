import HTTP
import SQLiteStore
import Sessions
import Testing

@testable import Endpoints

/// The user's own switch for logins, without a password: no user is locked out by it.
@Suite struct LoginSwitchTests {
    private static let path = "/v1/me/login-settings"
    private static let off = #"{"logins_disabled":true}"#

    private func turnOn(_ world: ProviderFixture, _ token: String, provider: String = "acme") async -> Answer {
        await world.server.call(
            .put, Self.path, #"{"logins_disabled":false,"provider":"\#(provider)","id_token":"\#(token)"}"#)
    }

    @Test func anIDTokenTurnsLoginsOnAgain_whileNoTokenWorks() async throws {
        try await ProviderFixture.with { world in
            let server = world.server
            let tokens = try Tokens(await world.logIn())
            let off = await server.call(.put, Self.path, Self.off, bearer: tokens.access)
            #expect(off.status == 200 && off.string("effective") == "immediate", "\(off.text)")
            let stopped = await server.call(.put, Self.path, #"{"logins_disabled":false}"#, bearer: tokens.access)
            #expect(stopped.status == 401)
            let token = try world.provider.token(#"{"jti":"2"}"#)
            #expect(await world.present(token).string("code") == "login_disabled_by_user")
            // A refused login has not used up the token.
            let on = await turnOn(world, token)
            #expect(on.status == 200 && on.bool("logins_disabled") == false, "\(on.text)")
            #expect(await server.refresh(tokens.refresh).status == 200)
            // It has done its one thing.
            #expect(await world.present(token).string("code") == "invalid_id_token")
            #expect(await turnOn(world, token).string("code") == "invalid_id_token")
            try await world.expect(200, #"{"jti":"3"}"#)
        }
    }

    @Test func anIDTokenSwitchesOnlyItsOwnUser() async throws {
        try await ProviderFixture.with { world in
            let server = world.server
            var tokens = try Tokens(await world.logIn())
            let users = await server.admin(.get, "/admin/v1/users").items.count
            // It makes no user.
            let stranger = await turnOn(world, try world.provider.token(#"{"sub":"u2"}"#))
            #expect(stranger.status == 404, "\(stranger.text)")
            #expect(await server.admin(.get, "/admin/v1/users").items.count == users)
            let used = try world.provider.token(#"{"jti":"2"}"#)
            tokens = try Tokens(await world.present(used))
            #expect(await turnOn(world, used).string("code") == "invalid_id_token")
            #expect(await turnOn(world, "a.b.c").string("code") == "invalid_id_token")
            #expect(await turnOn(world, used, provider: "nobody").status == 400)
            let late = try world.provider.token(#"{"jti":"3"}"#, at: EndpointsFixture.start - 1000)
            #expect(await turnOn(world, late).string("code") == "invalid_id_token")
            let both = await server.call(
                .put, Self.path, #"{"logins_disabled":true,"provider":"acme","id_token":"x"}"#, bearer: tokens.access)
            #expect(both.status == 400 && both.string("member") == "id_token", "\(both.text)")
            let half = await server.call(.put, Self.path, #"{"logins_disabled":true,"provider":"acme"}"#)
            #expect(half.status == 400 && half.string("member") == "id_token", "\(half.text)")
            let user = try #require(Identifier<User>(tokens.userID))
            #expect(try await server.store.user(.id(user))?.disabledByUser == nil)
        }
    }

    /// Users without a password, and what else they have.
    enum Kind: CaseIterable { case identity, identityOfNobody, nothing, password }

    @Test(arguments: Kind.allCases)
    func aUserWithoutAWayBackIsNotLockedOut(_ kind: Kind) async throws {
        try await ProviderFixture.with { world in
            let server = world.server
            let password = kind == .password ? #","password":"correct horse""# : ""
            let user = "/admin/v1/users/username:bert"
            #expect(await server.admin(.post, "/admin/v1/users", #"{"username":"bert"\#(password)}"#).status == 201)
            if kind == .identity || kind == .identityOfNobody {
                let provider = kind == .identity ? "acme" : "former"
                let linked = await server.admin(
                    .put, user + "/identities", #"{"provider":"\#(provider)","subject":"u1"}"#)
                #expect(linked.status < 300, "\(linked.text)")
            }
            let tokens = try Tokens(await server.admin(.post, user + "/sessions"))
            let isRefused = kind == .nothing || kind == .identityOfNobody
            let off = await server.call(.put, Self.path, Self.off, bearer: tokens.access)
            #expect(off.status == (isRefused ? 409 : 200), "\(off.text)")
            #expect(off.string("code") == (isRefused ? "password_missing" : nil))
            #expect(await server.refresh(tokens.refresh).status == (isRefused ? 200 : 400))
            if !isRefused { return }
            // What leaves the tokens as they are, they can undo.
            for change in [
                #"{"logins_disabled":true,"effective":"on_expiry"}"#, #"{"logins_disabled":false}"#,
            ] {
                #expect(await server.call(.put, Self.path, change, bearer: tokens.access).status == 200, "\(change)")
            }
        }
    }
}
