import FoundationEssentials
import JOSE
import JSON
import Sessions
import Testing

@testable import Server
@testable import Federation

/// Goal: a session that is asked for at its provider goes on with the provider's yes, ends with its no, and neither an outage, nor a
/// crash, nor a second node makes more of it.
/// Method: a provider on a real socket, two nodes on a real database, a clock that the test moves; a node takes one round at a time.
@Suite("Rechecks", .timeLimit(.minutes(5))) struct RecheckTests {
    static let databases = RecheckDatabase.allCases

    @Test("a yes carries the session on, and is asked for again an interval later, not earlier", arguments: databases)
    func confirmed(_ database: RecheckDatabase) async throws {
        try await RecheckFixture.with(database) { stage in
            let grant = try await stage.logIn()
            #expect(await stage.recheck(after: RecheckFixture.interval * 9 / 10 - 1) == .idle)
            #expect(await stage.recheck(after: RecheckFixture.interval / 10 + 1) == .answered(1))
            let asked = stage.clock.wall.now
            #expect(try await stage.session(grant).confirmation == ProviderConfirmation(provider: "acme", at: asked))
            #expect(
                stage.provider.questions.map(\.form) == [
                    ["grant_type": "refresh_token", "refresh_token": "T1", "client_id": "app"]
                ])
            #expect(await stage.recheck(after: RecheckFixture.interval * 9 / 10 - 1) == .idle)
            #expect(await stage.refresh(grant).problem == nil)
            let check = try #require(try await stage.check(grant))
            #expect(!check.isInDoubt && !check.rotates && check.failingSince == nil)
        }
    }

    @Test("a new refresh token of the provider takes the place of the old one, sealed", arguments: databases)
    func rotated(_ database: RecheckDatabase) async throws {
        try await RecheckFixture.with(database) { stage in
            let grant = try await stage.logIn()
            stage.provider.now { provider, question in provider.confirm(newToken: question.refreshToken + "+") }
            for _ in 0..<3 { await stage.recheck() }
            #expect(stage.provider.presented == ["T1", "T1+", "T1++"])
            let sealed = try #require(try await stage.check(grant)?.sealedToken)
            #expect(sealed.firstRange(of: Array("T1".utf8)) == nil)
        }
    }

    @Test(
        "a no ends the session on every node, with its reason", arguments: databases,
        ["invalid_grant", "interaction_required", "login_required"])
    func rejected(_ database: RecheckDatabase, _ word: String) async throws {
        try await RecheckFixture.with(database) { stage in
            let grant = try await stage.logIn()
            let other = try await stage.logIn(nil, device: "tablet")
            stage.provider.now { _, _ in RecheckProvider.error(word) }
            #expect(await stage.recheck() == .answered(1))
            #expect(try await stage.end(grant) == .revokedByProvider)
            #expect(await stage.refresh(grant).problem == .refused(.ended(.revokedByProvider)))
            #expect(try await stage.check(grant) == nil)
            let revoked = try await stage.store.revocations(after: 0, at: stage.clock.wall.now, limit: 10)
            #expect(revoked.map(\.sessionID) == [grant.session.id] && revoked[0].reason == "revoked_by_provider")
            let events = try await stage.store.events(after: 0, limit: 100, userID: nil, sessionID: grant.session.id)
            #expect(events.last?.event.kind == .sessionEnded && events.last?.event.actor == "provider:acme")
            // No provider is asked about the session that brought nothing to ask with.
            #expect(await stage.refresh(other).problem == nil)
            #expect(await stage.recheck() == .idle)
        }
    }

    @Test("an outage changes nothing within the budget, is a 503 beyond it, and heals by itself", arguments: databases)
    func outage(_ database: RecheckDatabase) async throws {
        try await RecheckFixture.with(database) { stage in
            let grant = try await stage.logIn()
            let start = stage.clock.wall.now
            stage.provider.now { _, _ in RecheckProvider.error("server_error", status: "503 Service Unavailable") }
            #expect(await stage.recheck() == .failed)
            let failing = try #require(try await stage.check(grant))
            #expect(failing.failingSince == stage.clock.wall.now && failing.isInDoubt)
            #expect(await stage.recheck(after: RecheckFixture.budget - 1) == .failed)
            let last = try await stage.refresh(grant).get()
            // What checks tokens by itself knows no older word of the provider either.
            #expect(last.expiresAt == start + .seconds(RecheckFixture.interval + RecheckFixture.budget))
            #expect(last.refreshAfter < last.expiresAt)
            stage.clock.advance(by: 1)
            for _ in 0..<2 { #expect(await stage.refresh(last).problem == .identityProviderUnavailable) }
            #expect(try await stage.end(grant) == nil)
            stage.provider.now { provider, _ in provider.confirm() }
            #expect(await stage.recheck(after: 1200) == .answered(1))
            #expect(await stage.refresh(last).problem == nil)
            #expect(try await stage.check(grant)?.failingSince == nil)
        }
    }

    @Test(
        "a refresh that waits for the provider's word does not wait for the time of the next try", arguments: databases)
    func hastened(_ database: RecheckDatabase) async throws {
        try await RecheckFixture.with(database) { stage in
            let grant = try await stage.logIn()
            stage.provider.now { _, _ in RecheckProvider.error("server_error", status: "503 Service Unavailable") }
            #expect(await stage.recheck() == .failed)
            #expect(await stage.recheck(after: RecheckFixture.budget) == .failed)
            let failed = try #require(try await stage.check(grant))
            #expect(failed.dueAt >= stage.clock.wall.now + .seconds(900))
            #expect(await stage.refresh(grant).problem == .identityProviderUnavailable)
            var hastened = failed
            hastened.dueAt = stage.clock.wall.now
            #expect(try await stage.check(grant) == hastened)
            // No node takes it from the one that asks, and nothing is written again.
            let taken = try await stage.services.providerChecks.claimDue(of: "acme", limit: 1)
            let leased = try await stage.check(grant)
            #expect(await stage.refresh(grant).problem == .identityProviderUnavailable)
            #expect(try await stage.check(grant) == leased && taken.count == 1)
            stage.provider.now { provider, _ in provider.confirm() }
            #expect(await stage.recheck(after: 60) == .answered(1))
            #expect(await stage.refresh(grant).problem == nil)
        }
    }

    @Test("a session that goes on by a key alone does not wait for it either", arguments: databases)
    func hastenedByAKey(_ database: RecheckDatabase) async throws {
        try await RecheckFixture.with(database) { stage in
            let key = PhoneKey()
            let grant = try await stage.logIn(key: key)
            stage.provider.now { _, _ in RecheckProvider.error("server_error", status: "503 Service Unavailable") }
            #expect(await stage.recheck() == .failed)
            #expect(await stage.recheck(after: RecheckFixture.budget) == .failed)
            #expect(await stage.resume(grant, by: key).problem == .identityProviderUnavailable)
            #expect(try await stage.check(grant)?.dueAt == stage.clock.wall.now)
            stage.provider.now { provider, _ in provider.confirm() }
            #expect(await stage.recheck(after: 1) == .answered(1))
            #expect(await stage.resume(grant, by: key).problem == nil)
        }
    }

    @Test("a thief is found out though the provider is silent for too long", arguments: databases)
    func theft(_ database: RecheckDatabase) async throws {
        try await RecheckFixture.with(database) { stage in
            let grant = try await stage.logIn()
            var latest = grant
            for _ in 0..<2 {
                stage.clock.advance(by: 600)
                latest = try await stage.refresh(latest).get()
            }
            stage.clock.advance(by: RecheckFixture.interval + RecheckFixture.budget)
            #expect(await stage.refresh(latest).problem == .identityProviderUnavailable)
            #expect(await stage.refresh(grant).problem == .refused(.ended(.refreshTokenReused)))
            #expect(try await stage.check(grant) == nil)
        }
    }

    @Test("two nodes ask once", arguments: databases)
    func twoNodes(_ database: RecheckDatabase) async throws {
        try await RecheckFixture.with(database) { stage in
            for number in 0..<12 { _ = try await stage.logIn("T\(number)", device: "d\(number)") }
            stage.clock.advance(by: RecheckFixture.interval)
            await withTaskGroup(of: Void.self) { group in
                for node in stage.nodes { group.addTask { while await node.round(limit: 3) != .idle {} } }
            }
            #expect(stage.provider.presented.sorted() == (0..<12).map { "T\($0)" }.sorted())
        }
    }

    @Test("the token of another user ends the session", arguments: databases)
    func otherSubject(_ database: RecheckDatabase) async throws {
        try await RecheckFixture.with(database) { stage in
            let grant = try await stage.logIn()
            stage.provider.now { provider, _ in
                provider.confirm(idToken: provider.idToken(["sub": .string("u2")]))
            }
            #expect(await stage.recheck() == .answered(1))
            #expect(try await stage.end(grant) == .revokedByProvider)
        }
    }

    @Test(
        "a session that has ended otherwise is not asked about, and its provider token is deleted", arguments: databases
    )
    func endedOtherwise(_ database: RecheckDatabase) async throws {
        try await RecheckFixture.with(database) { stage in
            let grant = try await stage.logIn()
            try await stage.administration.revokeAllSessions(by: .system)
            #expect(try await stage.check(grant) != nil)
            #expect(await stage.recheck() == .answered(1))
            #expect(try await stage.check(grant) == nil && stage.provider.questions.isEmpty)
        }
    }

    @Test(
        "a confidential client proves itself as it is configured",
        arguments: IdentityProvider.ClientAuthentication.allCases)
    func confidential(_ method: IdentityProvider.ClientAuthentication) async throws {
        try await RecheckFixture.with(.sqlite) { recheck in
            (recheck.clientID, recheck.clientSecret) = ("web", "s:e&c r%t")
            recheck.clientAuthentication = method
        } _: { stage in
            _ = try await stage.logIn()
            #expect(await stage.recheck() == .answered(1))
            let question = try #require(stage.provider.questions.first)
            let basic = Data("web:s%3Ae%26c%20r%25t".utf8).base64EncodedString()
            #expect(question.head.contains("Authorization: Basic \(basic)") == (method == .basic))
            #expect(question.form["client_secret"] == (method == .post ? "s:e&c r%t" : nil))
            #expect(question.form["client_id"] == (method == .post ? "web" : nil))
        }
    }
}
