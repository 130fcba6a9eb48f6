import Federation
import HTTP
import Locks
import SQLiteStore
import Sessions
import Testing

/// What a login brings along, so that its provider can be asked again.
@Suite struct RecheckLoginTests {
    private static func asked(_ provider: inout IdentityProvider, isRequired: Bool) {
        provider.recheck = IdentityProvider.Recheck(
            terms: RecheckTerms(interval: .seconds(3600), outageBudget: .seconds(60), isRequired: isRequired))
    }

    private func with(isRequired: Bool = false, _ body: (ProviderFixture) async throws -> Void) async throws {
        try await ProviderFixture.with({ Self.asked(&$0, isRequired: isRequired) }) { world in
            world.server.environment.secrets.withLock { _ = $0.insert("theirs-1") }
            try await body(world)
        }
    }

    @Test func whatItBrings_isKeptSealed_andAdminsSeeOfIt() async throws {
        try await with { world in
            let answer = try await world.logIn(more: #","provider_refresh_token":"theirs-1""#)
            #expect(answer.status == 200)
            let id = try #require(answer.string("session_id").flatMap { Identifier<Session>($0) })
            let check = try #require(try await world.server.store.providerCheck(of: id))
            #expect(check.subject == "u1" && check.clientID == "app" && check.provider == "acme")
            let sealed = try #require(check.sealedToken)
            #expect(sealed.count == "theirs-1".utf8.count + 29 && sealed.firstRange(of: Array("theirs".utf8)) == nil)
            let session = await world.server.admin(.get, "/admin/v1/sessions/\(id)")
            #expect(session.string("provider") == "acme")
            #expect(session.integer("provider_confirmed_at") == EndpointsFixture.start)
            #expect(session.integer("provider_failing_since") == nil)
        }
    }

    @Test func aLoginWithoutIt_isRefusedWhereItIsRequired_andNotTheTokenUsedUp() async throws {
        try await with(isRequired: true) { world in
            let token = try world.provider.token()
            let refused = await world.present(token)
            #expect(refused.status == 400 && refused.text.contains("provider_refresh_token"), "\(refused.text)")
            #expect(await world.present(token, more: #","provider_refresh_token":"theirs-1""#).status == 200)
        }
        try await with { world in
            let answer = try await world.logIn()
            #expect(answer.status == 200)
            let id = try #require(answer.string("session_id").flatMap { Identifier<Session>($0) })
            #expect(try await world.server.store.providerCheck(of: id) == nil)
            #expect(try await world.server.store.session(id)?.session.confirmation == nil)
        }
    }

    @Test func withoutRechecks_itIsNotKept() async throws {
        try await ProviderFixture.with { world in
            let answer = try await world.logIn(more: #","provider_refresh_token":"theirs-1""#)
            let id = try #require(answer.string("session_id").flatMap { Identifier<Session>($0) })
            #expect(try await world.server.store.providerCheck(of: id) == nil)
        }
    }

    @Test(arguments: ["", "a\\nb", "caf\u{E9}", String(repeating: "a", count: 8193)])
    func whatCannotBeOne_isRefused(_ token: String) async throws {
        try await with { world in
            let answer = try await world.logIn(more: #","provider_refresh_token":"\#(token)""#)
            #expect(answer.status == 400 && answer.text.contains("provider_refresh_token"), "\(answer.text)")
        }
    }

    @Test func passwordsAndItDoNotGoTogether() async throws {
        try await with { world in
            let answer = await world.server.call(
                .post, "/v1/login",
                #"{"username":"anna","password":"\#(EndpointsFixture.password)","provider_refresh_token":"a","device":{"id":"d"}}"#
            )
            #expect(answer.status == 400)
        }
    }
}
