import Sessions
import Testing

@testable import Transfer
@testable import sojourn

/// A verifier of tokens hears after a move of what has ended before it.
@Suite("Export and import: the feed of revocations", .timeLimit(.minutes(5)))
struct TransferFeedTests {
    private let transfer: TransferTests

    init() throws { transfer = try TransferTests() }

    /// The feed as a newcomer finds it, without numbers.
    private func snapshot(_ stage: TransferFixture) async throws -> [Revocation] {
        let feed = RevocationFeed(source: stage.store, clock: stage.context.clock)
        return try #require(try await feed.page(after: .start, limit: 200)).map { revocation in
            var revocation = revocation
            revocation.number = 0
            return revocation
        }
    }

    private func sessionID(_ token: String, at stage: TransferFixture) async throws -> Identifier<Session> {
        try #require(try await stage.services.refresh.session(of: token))
    }

    /// One of each kind, in an order that matters.
    private func fill(_ stage: TransferFixture) async throws {
        let admin = stage.administration
        for name in ["ada", "bob", "eve"] { _ = try await stage.createUser(name) }
        try await admin.revokeAllSessions(by: .system)
        transfer.clock.advance(.seconds(60))
        try await stage.services.logout.logOut(stage.logIn("ada", device: "phone"), from: .system)
        _ = try await stage.logIn("eve", device: "phone")
        _ = try await admin.deleteUser(.username("eve"), by: .system)
        for name in ["ada", "bob"] {
            _ = try await admin.disable(
                .username(name), effective: .immediate, revokingSessions: false, note: "lost", by: .system)
        }
        _ = try await admin.enable(.username("ada"), includingOwnSwitch: false, by: .system)
        _ = try await admin.createClient(id: "old", by: .system) { _ in nil }
        try await admin.deleteClient("old", by: .system)
        let backend = try await makeBackend(stage)
        let own = stage.services.clientCredentials
        let isOwn = try await own.revoke(
            try await own.issue(to: backend, scope: nil).accessToken, of: backend, from: .system)
        #expect(isOwn)
        _ = try await admin.changeClient("backend", newSecret: true, by: .system) { _ in nil }
        _ = try await admin.changeSettings(by: .system) { $0.offlineSessionMax = .seconds(8_640_000) }
    }

    /// A client that gets tokens for itself.
    private func makeBackend(_ stage: TransferFixture) async throws -> Client {
        try await stage.administration.createClient(id: "backend", by: .system) { client in
            (client.authenticationMethod, client.grantTypes) = (.clientSecretBasic, [.clientCredentials])
            return nil
        }.client
    }

    @Test("tokens of clients that ended before a move are refused after it, and the others are accepted")
    func clientTokens() async throws {
        try await transfer.withRoute { first, postgres, last in
            let old = try await makeBackend(first)
            let own = first.services.clientCredentials
            let ended = try await own.issue(to: old, scope: nil).accessToken
            let (client, _) = try await first.administration.changeClient(
                "backend", newSecret: true, by: .system
            ) { _ in nil }
            let good = try await own.issue(to: client, scope: nil).accessToken
            let revoked = try await own.issue(to: client, scope: nil).accessToken
            let isOwn = try await own.revoke(revoked, of: client, from: .system)
            #expect(isOwn)
            for (source, target) in [(first, postgres), (postgres, last)] {
                try await transfer.move(from: source, to: target)
                for (token, isAccepted) in [(ended, false), (good, true), (revoked, false)] {
                    let found = try await target.services.accessTokens.introspect(token, from: .system)
                    #expect((found != .inactive) == isAccepted)
                }
            }
            // What ends at the source comes with the next export, and so does what is good there.
            let (newer, _) = try await first.administration.changeClient(
                "backend", newSecret: true, by: .system
            ) { _ in nil }
            let newest = try await own.issue(to: newer, scope: nil).accessToken
            try await transfer.move(from: first, to: postgres)
            #expect(try await postgres.services.accessTokens.introspect(newest, from: .system) != .inactive)
            #expect(try await postgres.services.accessTokens.introspect(good, from: .system) == .inactive)
            #expect(try await snapshot(postgres).filter { $0.kind == .clientTokensEnded }.count == 2)
        }
    }

    @Test("an ending before a move is in the feed after it, there and back, once and in order")
    func roundTrip() async throws {
        try await transfer.withRoute { first, postgres, last in
            try await fill(first)
            let all = try await snapshot(first)
            #expect(Set(all.map(\.kind)) == Set(Revocation.Kind.allCases))
            // Of a block that is over a verifier that did not know it need not know.
            let ada = try await first.store.user(.username("ada"))?.id
            let told = all.filter { $0.userID != ada || $0.kind == .sessionEnded }
            #expect(told.count == all.count - 2)
            let place = RevocationCursor(
                after: try #require(
                    try await first.store.revocations(after: 0, at: transfer.clock.wall.now, limit: 200).last))
            for (source, target) in [(first, postgres), (postgres, last)] {
                try await transfer.move(from: source, to: target)
                #expect(try await snapshot(target) == told)
                // A cursor of the other database says nothing here.
                let feed = RevocationFeed(source: target.store, clock: target.context.clock)
                #expect(try await feed.page(after: place, limit: 9) == nil)
                let (again, _) = try await target.load(transfer.folder)
                #expect(try #require(again.counts[.revocation]) >= told.count && again.keptCount >= told.count)
                #expect(try await snapshot(target) == told)
            }
            // Followers there are told what ends there.
            transfer.clock.advance(.seconds(60))
            let token = try await last.logIn("ada", device: "watch")
            let id = try await sessionID(token, at: last)
            try await last.services.logout.logOut(token, from: .system)
            #expect(try await snapshot(last).last?.sessionID == id)
            #expect(try await snapshot(last).count == told.count + 1)
        }
    }

    @Test("an ending at the source since comes with the next export, behind what is there")
    func incremental() async throws {
        try await transfer.withRoute { first, postgres, _ in
            _ = try await first.createUser("ada")
            let (phone, tablet) = (
                try await first.logIn("ada", device: "phone"), try await first.logIn("ada", device: "tablet")
            )
            let ids = (try await sessionID(phone, at: first), try await sessionID(tablet, at: first))
            try await first.services.logout.logOut(phone, from: .system)
            let bob = UserReference.id(try await first.createUser("bob").id)
            _ = try await first.administration.disable(
                bob, effective: .immediate, revokingSessions: false, note: nil, by: .system)
            try await transfer.move(from: first, to: postgres)
            transfer.clock.advance(.seconds(60))
            try await first.services.logout.logOut(tablet, from: .system)
            _ = try await first.administration.enable(bob, includingOwnSwitch: false, by: .system)
            try await transfer.move(from: first, to: postgres)
            #expect(try await snapshot(postgres).map(\.sessionID) == [ids.0, nil, ids.1])
            // That logins are on again is no end.
            try await postgres.load(transfer.folder, replacing: true)
            let told = try await snapshot(postgres)
            #expect(told.map(\.kind) == [.sessionEnded, .userBlocked, .sessionEnded, .userUnblocked])
            #expect(told.map(\.sessionID) == [ids.0, nil, ids.1, nil])
        }
    }

    @Test("feed items that no verifier needs any more stay behind")
    func past() async throws {
        try await transfer.withRoute { first, postgres, last in
            _ = try await first.createUser("ada")
            try await first.services.logout.logOut(first.logIn("ada", device: "phone"), from: .system)
            let early = try await first.export(to: transfer.folder)
            #expect(early.contains(#""type":"revocation""#))
            transfer.clock.advance(.seconds(1_209_600))
            try await postgres.load(transfer.folder)
            #expect(try await postgres.store.lastRevocation() == 0)
            #expect(try await !first.export(to: transfer.folder).contains(#""type":"revocation""#))
        }
    }

    @Test("the export says until when tokens of a longer life are out")
    func earlierTokens() async throws {
        try await transfer.withRoute { first, postgres, last in
            _ = try await first.createUser("ada")
            let token = try await first.logIn("ada", device: "phone")
            let end = transfer.clock.wall.now + .seconds(1_209_600)
            _ = try await first.administration.changeClient(Client.mobileID, by: .system) {
                $0.accessTokenLifetime = .seconds(7200)
                return nil
            }
            for (source, target) in [(first, postgres), (postgres, last)] {
                try await transfer.move(from: source, to: target)
                #expect(try await target.store.settings().earlierTokensEnd == end)
            }
            try await last.services.logout.logOut(token, from: .system)
            #expect(try await snapshot(last).last?.until == end)
            transfer.clock.advance(.seconds(1_209_600))
            #expect(try await !last.export(to: transfer.folder).contains("earlier_tokens_end_at"))
        }
    }

    @Test("an import that replaces, and makes lifetimes shorter, says so where there are sessions, and only there")
    func shorter() async throws {
        transfer.folder.write(
            "shorter.jsonl",
            """
            {"type":"settings","offline_session_idle":864000,"offline_session_max_limited":true,\
            "offline_session_max":8640000,"refresh_after":3600,"rotation_interval":120,"epoch":1}
            {"type":"client","client_id":"mobile","grant_types":["refresh_token","login","password"],"scope":"",\
            "offline_session_idle":86400,"created_at":1800000000,"epoch":2}
            """)
        try await transfer.withRoute { first, postgres, _ in
            #expect(try await postgres.load(transfer.folder, "shorter.jsonl").refused.isEmpty)
            #expect(try await snapshot(postgres).isEmpty)
            _ = try await first.createUser("ada")
            _ = try await first.logIn("ada", device: "phone")
            for _ in 0..<2 {
                #expect(try await first.load(transfer.folder, "shorter.jsonl", replacing: true).refused.isEmpty)
                let told = try await snapshot(first)
                #expect(told.map(\.kind) == [.lifetimesShortened, .lifetimesShortened])
                #expect(told.map(\.clientID) == [nil, Client.mobileID])
            }
        }
    }

    @Test("a cut at the source covers the tokens that were issued here since")
    func cuts() async throws {
        try await transfer.withRoute { first, postgres, _ in
            for stage in [first, postgres] {
                _ = try await stage.administration.createClient(id: "web", by: .system) { _ in nil }
            }
            try await first.administration.deleteClient("web", by: .system)
            for _ in 0..<2 { try await first.administration.revokeAllSessions(by: .system) }
            _ = try await first.administration.createClient(id: "web", by: .system) { _ in nil }
            _ = try await postgres.createUser("ada")
            transfer.clock.advance(.seconds(60))
            _ = try await postgres.logIn("ada", device: "phone")
            let issuedAt = transfer.clock.wall.now
            for _ in 0..<2 {
                try await transfer.move(from: first, to: postgres)
                let told = try await snapshot(postgres)
                #expect(told.map(\.kind) == [.allSessionsEnded, .clientDeleted])
                #expect(told.map(\.clientID) == [nil, "web"])
                #expect(told.allSatisfy { $0.at >= issuedAt })
            }
        }
    }

    @Test("an older export brings no session back that ended when its client was deleted here")
    func deletedHere() async throws {
        try await transfer.withStages(1) { stages in
            let stage = stages[0]
            _ = try await stage.createUser("ada")
            let token = try await stage.logIn("ada", device: "phone")
            _ = try await stage.export(to: transfer.folder)
            try await stage.administration.deleteClient(Client.mobileID, by: .system)
            _ = try await stage.administration.createClient(id: Client.mobileID, by: .system) { _ in nil }
            #expect(try await stage.load(transfer.folder).refused.isEmpty)
            let refused = await stage.refresh(token)
            #expect(throws: ServiceError.refused(.ended(.revokedByAdmin))) { try refused.get() }
            let later = try await stage.refresh(stage.logIn("ada", device: "phone"))
            #expect(throws: Never.self) { try later.get() }
        }
    }

    @Test("a revocation without a user is refused with its line")
    func malformed() async throws {
        let at = #""at":1800000000,"until":1900000000"#
        transfer.folder.write(
            "mine.jsonl",
            """
            {"type":"revocation","kind":"session_ended",\(at)}
            {"type":"revocation","kind":"user_blocked",\(at)}
            {"type":"revocation","kind":"client_deleted",\(at)}
            {"type":"revocation","kind":"lifetimes_shortened",\(at)}
            {"type":"revocation","kind":"all_over",\(at)}
            {"type":"revocation","kind":"user_deleted","user_id":"\(String(repeating: "0a", count: 16))"}
            {"type":"revocation","kind":"client_tokens_ended",\(at)}
            {"type":"revocation","kind":"client_token_revoked","client_id":"web",\(at)}
            """)
        try await transfer.withStages(1) { stages in
            let (_, refused) = try await stages[0].load(transfer.folder, "mine.jsonl")
            #expect(
                refused == [
                    "line 1: 'session_id' is missing", "line 2: 'user_id' is missing",
                    "line 3: 'client_id' is missing",
                    "line 5: 'kind' must be one of: "
                        + Revocation.Kind.allCases.map(\.rawValue).joined(separator: ", "),
                    "line 6: 'at' is missing", "line 7: 'epoch' is missing", "line 8: 'jti' is missing",
                ])
            #expect(try await snapshot(stages[0]).map(\.kind) == [.lifetimesShortened])
        }
    }
}
