import Cryptography
import HostileServer
import JOSE
import JSON
import Sessions
import Testing

@testable import Server
@testable import Federation

/// Goal: no answer of a provider that is lost, late, or no answer at all is taken for its no, and none of them is believed.
/// Method: as `RecheckTests`; a node that dies is one that takes a check on, asks, and settles nothing.
@Suite("Rechecks that go wrong", .timeLimit(.minutes(5))) struct RecheckFaultTests {
    static let databases = RecheckDatabase.allCases

    /// Takes the check on and asks, as a node does that dies before it has written the answer down.
    private func die(_ stage: RecheckFixture) async throws {
        let claimed = try await stage.services.providerChecks.claimDue(of: "acme", limit: 1)
        let check = try #require(claimed.first)
        let answer = await stage.identities.ask(
            ProviderQuestion(
                provider: "acme", subject: check.subject, clientID: check.clientID, refreshToken: "T1"))
        #expect(answer == .confirmed(refreshToken: "T2"))
    }

    @Test("the token that went down with a node is no reason to end the session before its time", arguments: databases)
    func crash(_ database: RecheckDatabase) async throws {
        try await RecheckFixture.with(database) { stage in
            let grant = try await stage.logIn()
            let start = stage.clock.wall.now
            stage.provider.now { provider, question in
                question.refreshToken == "T1" && provider.questions.count == 1
                    ? provider.confirm(newToken: "T2") : RecheckProvider.error("invalid_grant")
            }
            stage.clock.advance(by: RecheckFixture.interval)
            try await die(stage)
            // No node takes it on before the lease is over.
            #expect(await stage.recheck(after: 59) == .idle)
            #expect(await stage.recheck(after: 1) == .answered(1))
            #expect(stage.provider.presented == ["T1", "T1"])
            #expect(try await stage.end(grant) == nil)
            let last = try await stage.refresh(grant).get()
            let lost = try #require(try await stage.check(grant))
            #expect(lost.sealedToken == nil && lost.failingSince != nil)
            // Nothing is left to ask with: it ends when the provider's last word is too old.
            let end = start + .seconds(RecheckFixture.interval + RecheckFixture.budget)
            #expect(lost.dueAt == end)
            stage.clock.advance(by: (end - stage.clock.wall.now).wholeSeconds)
            #expect(await stage.refresh(last).problem == .identityProviderUnavailable)
            #expect(await stage.recheck(after: 0) == .answered(1))
            #expect(await stage.refresh(last).problem == .refused(.ended(.recheckLost)))
            #expect(stage.provider.questions.count == 2)
        }
    }

    @Test("a provider that takes the old token once more heals what went down with a node", arguments: databases)
    func grace(_ database: RecheckDatabase) async throws {
        try await RecheckFixture.with(database) { stage in
            let grant = try await stage.logIn()
            stage.provider.now { provider, _ in provider.confirm(newToken: "T\(provider.questions.count + 1)") }
            stage.clock.advance(by: RecheckFixture.interval)
            try await die(stage)
            #expect(await stage.recheck(after: 60) == .answered(1))
            await stage.recheck()
            #expect(stage.provider.presented == ["T1", "T1", "T3"])
            #expect(try await stage.end(grant) == nil)
        }
    }

    @Test("where the token never changes, a lost answer takes nothing from a no", arguments: databases)
    func unchanging(_ database: RecheckDatabase) async throws {
        try await RecheckFixture.with(database) { stage in
            let grant = try await stage.logIn()
            await stage.recheck()
            stage.provider.now { _, _ in [.say("HTTP/1.1 200 OK\r\n")] }
            #expect(await stage.recheck() == .failed)
            stage.provider.now { _, _ in RecheckProvider.error("invalid_grant") }
            #expect(await stage.recheck(after: 60) == .answered(1))
            #expect(try await stage.end(grant) == .revokedByProvider)
        }
    }

    @Test("a node that was overtaken decides nothing", arguments: databases)
    func overtaken(_ database: RecheckDatabase) async throws {
        try await RecheckFixture.with(database) { stage in
            let grant = try await stage.logIn()
            stage.clock.advance(by: RecheckFixture.interval)
            let slow = try #require(try await stage.services.providerChecks.claimDue(of: "acme", limit: 1).first)
            #expect(await stage.recheck(after: 60) == .answered(1))
            stage.provider.now { _, _ in RecheckProvider.error("invalid_grant") }
            let outcome = try await stage.services.providerChecks.recheck(
                slow, stage.nodes[0].recheck.terms, by: stage.identities)
            #expect(outcome == .superseded)
            #expect(try await stage.end(grant) == nil)
        }
    }

    /// What a provider may do beside an answer.
    static let hostile: [(String, RecheckProvider.Answer)] = [
        ("no tokens", { _, _ in RecheckProvider.json("{}") }),
        ("no object", { _, _ in RecheckProvider.json("[1]") }),
        ("rubbish", { _, _ in RecheckProvider.json("{\"access_token\":") }),
        ("two of one", { _, _ in RecheckProvider.json(#"{"access_token":"a","access_token":"b"}"#) }),
        ("a number", { p, _ in RecheckProvider.json(#"{"access_token":"a","id_token":7}"#) }),
        ("a token with a line end", { p, _ in p.confirm(newToken: #"a\nb"#) }),
        ("a long token", { p, _ in p.confirm(newToken: String(repeating: "a", count: 8193)) }),
        (
            "endless",
            { _, _ in [.say("HTTP/1.1 200 OK\r\nContent-Length: 99999999\r\n\r\n"), .endless("{\"a\":\"b\"}")] }
        ),
        ("silence", { _, _ in [.hang] }),
        ("half an answer", { _, _ in [.say("HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{")] }),
        ("no HTTP", { _, _ in [.say("hello\r\n\r\n")] }),
        (
            "a redirect",
            { p, _ in [.say("HTTP/1.1 307 No\r\nLocation: \(p.issuer)/token\r\nContent-Length: 0\r\n\r\n")] }
        ),
        ("no without words", { _, _ in RecheckProvider.json("", status: "400 Bad Request") }),
        ("no in a 500", { _, _ in RecheckProvider.error("invalid_grant", status: "500 No") }),
        ("no in a 200", { _, _ in RecheckProvider.error("invalid_grant", status: "200 OK") }),
        ("another no", { _, _ in RecheckProvider.error("invalid_client", status: "401 Unauthorized") }),
        ("an issuer", { p, _ in p.confirm(idToken: p.idToken(["iss": .string("https://other.example")])) }),
        ("an audience", { p, _ in p.confirm(idToken: p.idToken(["aud": .string("other")])) }),
        ("an old one", { p, _ in p.confirm(idToken: p.idToken(["exp": .integer(1)])) }),
        ("a signature", { p, _ in p.confirm(idToken: p.idToken(key: SigningKey.generate(.es256))) }),
        ("no ID token", { _, _ in RecheckProvider.json(#"{"access_token":"a"}"#) }),
    ]

    @Test("a provider that does anything but answer is an outage, and no session ends", arguments: databases)
    func hostileAnswers(_ database: RecheckDatabase) async throws {
        for (name, behaviour) in Self.hostile {
            try await RecheckFixture.with(database) { stage in
                let grant = try await stage.logIn()
                stage.provider.now(behaviour)
                #expect(await stage.recheck() == .failed, "\(name)")
                #expect(stage.provider.questions.count == 1, "\(name)")
                #expect(try await stage.end(grant) == nil, "\(name)")
                #expect(try await stage.session(grant).confirmation?.at == grant.session.startedAt, "\(name)")
                stage.provider.now { provider, _ in provider.confirm() }
                #expect(await stage.recheck(after: 60) == .answered(1), "\(name)")
                #expect(try await stage.session(grant).confirmation?.at == stage.clock.wall.now, "\(name)")
            }
        }
    }

    @Test("a new token is kept though its answer does not name the user", arguments: databases)
    func unproven(_ database: RecheckDatabase) async throws {
        try await RecheckFixture.with(database) { stage in
            _ = try await stage.logIn()
            stage.provider.now { _, _ in RecheckProvider.json(#"{"access_token":"a","refresh_token":"T2"}"#) }
            #expect(await stage.recheck() == .failed)
            #expect(await stage.recheck(after: 60) == .failed)
            #expect(stage.provider.presented == ["T1", "T2"])
        }
    }

    @Test("where it is configured so, an answer without an ID token is a yes")
    func withoutIDToken() async throws {
        try await RecheckFixture.with(.sqlite) {
            $0.takesNoIDToken = true
        } _: { stage in
            _ = try await stage.logIn()
            stage.provider.now { _, _ in RecheckProvider.json(#"{"access_token":"a"}"#) }
            #expect(await stage.recheck() == .answered(1))
        }
    }
}
