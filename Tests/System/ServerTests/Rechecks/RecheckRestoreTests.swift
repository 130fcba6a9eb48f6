import FoundationEssentials
import PostgresFixture
import Sessions
import TLSFixture
import Testing

@testable import Server
@testable import Federation

/// Goal: a database that went back to an older state, and so has an older token than the provider, ends no session by that
/// (promise 3).
/// Method: the provider changes its token with every answer, and says no to any but the last one; the answer that brought the last
/// one is then lost as PostgreSQL is restored from a dump, from its own files, or by a standby that had not got everything.
@Suite("Rechecks after a restore", .timeLimit(.minutes(5))) struct RecheckRestoreTests {
    static let databases = RecheckDatabase.allCases

    /// Answers each token but once, with the next one.
    private func rotate(_ stage: RecheckFixture) {
        stage.provider.now { provider, question in
            let number = provider.presented.count
            return question.refreshToken == "T\(number)"
                ? provider.confirm(newToken: "T\(number + 1)") : RecheckProvider.error("invalid_grant")
        }
    }

    /// Lets the check become due that was answered in the time that is lost, and the node ask about it. Connections may be lost
    /// at first; then the node looks again.
    private func expectDoubt(_ stage: RecheckFixture, of grant: TokenGrant, by node: Rechecks) async throws {
        let deadline = ContinuousClock.now + .seconds(60)
        while stage.provider.presented.count < 3, ContinuousClock.now < deadline {
            stage.clock.advance(by: 60)
            _ = await node.round(limit: 8)
        }
        #expect(stage.provider.presented == ["T1", "T2", "T2"])
        #expect(try await stage.end(grant) == nil)
        #expect(await stage.refresh(grant).problem == nil)
    }

    @Test("a node that starts does not believe a no about what was due before", arguments: databases)
    func start(_ database: RecheckDatabase) async throws {
        try await RecheckFixture.with(database) { stage in
            let grant = try await stage.logIn()
            rotate(stage)
            await stage.recheck()
            let old = try await stage.check(grant)
            await stage.recheck()
            try await stage.store.updateProviderCheck(grant.session.id) { $0.check = old }
            // Nor when the provider could not even be asked at first.
            stage.provider.hideDocument(true)
            for _ in 0..<2 {
                #expect(await stage.newcomer.round(limit: 8) == .failed)
                stage.clock.advance(by: 3600)
            }
            stage.provider.hideDocument(false)
            stage.provider.now { _, _ in RecheckProvider.error("invalid_grant") }
            #expect(await stage.newcomer.round(limit: 8) == .answered(1))
            #expect(stage.provider.presented == ["T1", "T2", "T2"])
            #expect(try await stage.end(grant) == nil)
            #expect(try await stage.check(grant)?.sealedToken == nil)
        }
    }

    @Test("a no about a session that became due while the node was there is believed", arguments: databases)
    func later(_ database: RecheckDatabase) async throws {
        try await RecheckFixture.with(database) { stage in
            let grant = try await stage.logIn()
            rotate(stage)
            await stage.recheck()
            #expect(await stage.newcomer.round(limit: 8) == .idle)
            stage.provider.now { _, _ in RecheckProvider.error("invalid_grant") }
            stage.clock.advance(by: RecheckFixture.interval)
            #expect(await stage.newcomer.round(limit: 8) == .answered(1))
            #expect(try await stage.end(grant) == .revokedByProvider)
        }
    }

    @Test("a no after a dump was restored under a running node is not believed")
    func dump() async throws {
        let server = try PostgresServer()
        try server.run("CREATE SCHEMA app")
        try await RecheckFixture.with(.postgres, url: server.url(schema: "app")) { stage in
            let grant = try await stage.logIn()
            rotate(stage)
            await stage.recheck()
            let folder = StartingFolder()
            let (file, url) = (folder.file("dump"), server.url(schema: "public"))
            let dumped = try await Tool.run(["pg_dump", "-n", "app", "-f", file, url])
            #expect(dumped.status == 0, "\(dumped.text)")
            await stage.recheck()
            try server.run("DROP SCHEMA app CASCADE")
            let restored = try await Tool.run(["psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", "-d", url, "-f", file])
            #expect(restored.status == 0, "\(restored.text)")
            try await expectDoubt(stage, of: grant, by: stage.nodes[0])
        }
    }

    @Test("a no is not believed after a server came back with its files as they were before")
    func snapshot() async throws {
        let server = try PostgresServer()
        try server.run("CREATE SCHEMA app")
        try await RecheckFixture.with(.postgres, url: server.url(schema: "app")) { stage in
            let grant = try await stage.logIn()
            rotate(stage)
            await stage.recheck()
            try server.control("stop")
            #expect(try await Tool.run(["cp", "-a", server.folder + "/data", server.folder + "/kept"]).status == 0)
            try server.control("start")
            let deadline = ContinuousClock.now + .seconds(60)
            stage.clock.advance(by: RecheckFixture.interval)
            // It was started without a loss: that the provider says yes is believed as ever.
            while stage.provider.presented.count < 2, ContinuousClock.now < deadline { await stage.recheck(after: 60) }
            #expect(stage.provider.presented == ["T1", "T2"])
            try server.control("stop")
            let script = "rm -r \"$0/data\" && mv \"$0/kept\" \"$0/data\""
            #expect(try await Tool.run(["sh", "-c", script, server.folder]).status == 0)
            try server.control("start")
            try await expectDoubt(stage, of: grant, by: stage.nodes[1])
        }
    }

    @Test("a no is not believed after a standby was promoted without the last answer")
    func standby() async throws {
        let primary = try PostgresServer()
        try primary.run("CREATE SCHEMA app")
        let standby = try PostgresServer(following: primary)
        try await RecheckFixture.with(.postgres, url: primary.url(schema: "app", or: standby)) { stage in
            let grant = try await stage.logIn()
            rotate(stage)
            await stage.recheck()
            try standby.catchUp(with: primary)
            try standby.stopFollowing()
            await stage.recheck()
            try primary.control("stop", "-m", "immediate")
            try standby.control("promote")
            try await expectDoubt(stage, of: grant, by: stage.nodes[0])
        }
    }
}
