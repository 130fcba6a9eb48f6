import Server
import SQLiteStore
import Sessions
import Testing
import Transfer

@testable import Configuration
@testable import sojourn

/// Promise 3: a restore from a backup ends no session.
@Suite("Restore: refreshes after it", .timeLimit(.minutes(5)))
struct RestoreRefreshTests {
    private let folder = StartingFolder()
    private let clock = StartingClock()

    /// A server but for its sockets; the root key lies beside the database, and stays.
    private struct Fixture {
        let application: Application
        let store: SQLiteStore
        let services: Services
        let administration: Administration

        /// Logs in on a device and gives the refresh token.
        func logIn(_ device: String, client: String = Client.mobileID) async throws -> String {
            let request = SessionRequest(clientID: client, device: Device(id: device))
            let grant = try await services.login.mintSession(request, for: .username("ada"), from: .system)
            return try #require(grant.refreshToken)
        }

        /// Refreshes, and gives the token to go on with.
        func goOn(_ token: String, client: String = Client.mobileID) async throws -> String {
            let attempt = RefreshAttempt(token: token, clientID: client)
            let grant = try await services.refresh.refresh(attempt, from: .system)
            return try #require(grant.refreshToken)
        }
    }

    private struct Missing: Error {}

    private func open() async throws -> Fixture {
        let application = try await Application.open(folder.configuration, clock.environment())
        guard case .sqlite(let store) = application.database else { throw Missing() }
        return Fixture(
            application: application, store: store,
            services: Services(application.context), administration: Administration(application.context))
    }

    private func createUser(_ stage: Fixture) async throws -> Identifier<User> {
        try await stage.administration.createUser(
            username: "ada", password: nil, profile: User.Profile(), offlineSessionMax: nil, by: .system
        ).id
    }

    private func restore() throws -> Restoration {
        try SQLiteStore.restore(folder.file("backup"), over: folder.file("db"), by: .system, clock: clock.wall)
    }

    /// Refreshes `token` an hour later; the device keeps what comes back.
    private func refresh(_ token: inout String, _ stage: Fixture) async throws -> RefreshDecision {
        clock.advance(.seconds(3601))
        let grant = try await stage.services.refresh.refresh(
            RefreshAttempt(token: token, clientID: Client.mobileID), from: .system)
        token = try #require(grant.refreshToken)
        return try #require(grant.decision)
    }

    @Test("every device goes on with the newest token that it holds, however often it refreshed after the backup")
    func noSessionEnds() async throws {
        let stage = try await open()
        let user = try await createUser(stage)
        // Device n refreshes n times after the backup; before it, two times each.
        var held: [String] = []
        for device in 0..<7 { held.append(try await stage.logIn("d\(device)")) }
        for _ in 0..<2 {
            for device in held.indices { #expect(try await refresh(&held[device], stage) == .rotated) }
        }
        _ = try await stage.store.backUp(to: folder.file("backup"), by: .system)
        for device in held.indices {
            for _ in 0..<device { #expect(try await refresh(&held[device], stage) == .rotated) }
        }
        // And once more, with an answer that is lost: the device keeps the token before.
        for device in 0..<3 {
            var lost = held[device]
            #expect(try await refresh(&lost, stage) == .rotated)
        }
        await stage.application.close()
        _ = try restore()

        let again = try await open()
        // Device 0 holds the child of the backup; device 1 the one after it, which the restored server makes again.
        for device in held.indices {
            let decision = try await refresh(&held[device], again)
            #expect(decision == (device == 0 ? .rotated : .restored), "device \(device)")
        }
        // From there on all is as ever.
        for device in held.indices { #expect(try await refresh(&held[device], again) == .rotated) }
        let sessions = try await again.store.sessions(of: user, after: nil, limit: 99)
        #expect(sessions.items.allSatisfy { $0.session.ending == nil })
        await again.application.close()
    }

    @Test(
        "no backup, however old, makes a session idle for too long, by the settings or by a client's own",
        arguments: [1, 13, 15, 170] as [Int64])
    func idle(days: Int64) async throws {
        let stage = try await open()
        _ = try await createUser(stage)
        _ = try await stage.administration.createClient(id: "bank", by: .system) { client in
            client.offlineSessionIdle = .seconds(7200)
            return nil
        }
        // 0 is as none.
        _ = try await stage.administration.changeClient(Client.mobileID, by: .system) { client in
            client.offlineSessionIdle = .zero
            return nil
        }
        let gone = try await stage.logIn("gone", client: "bank")
        clock.advance(.seconds(7200))
        var (used, quiet) = (try await stage.logIn("used"), try await stage.logIn("quiet"))
        var bank = try await stage.logIn("bank", client: "bank")
        _ = try await stage.store.backUp(to: folder.file("backup"), by: .system)
        for _ in 0..<days {
            clock.advance(.seconds(86_400))
            used = try await stage.goOn(used)
        }
        await stage.application.close()
        _ = try restore()

        let again = try await open()
        used = try await again.goOn(used)
        quiet = try await again.goOn(quiet)
        clock.advance(.seconds(7199))
        bank = try await again.goOn(bank, client: "bank")
        // What had rested for too long when the backup was taken stays over, and from now on the clock counts.
        for (token, client, wait) in [(gone, "bank", 0), (bank, "bank", 7200), (quiet, Client.mobileID, 1_209_600)] {
            clock.advance(.seconds(Int64(wait)))
            await #expect(throws: ServiceError.refused(.ended(.idleExpired))) {
                try await again.goOn(token, client: client)
            }
        }
        await again.application.close()
    }

    @Test("a restore of a backup of a restored database ends no session either, and writes one value")
    func again() async throws {
        let stage = try await open()
        _ = try await createUser(stage)
        var token = try await stage.logIn("d1")
        var settings = try await stage.store.settings()
        await stage.application.close()
        for _ in 0..<3 {
            let fixture = try await open()
            let before = try await fixture.store.exportSessions(after: nil, limit: 9)
            _ = try await fixture.store.backUp(to: folder.file("backup"), replacing: true, by: .system)
            settings.restores.append(.init(from: clock.wall.now, at: clock.wall.now + .seconds(13 * 86_400)))
            await fixture.application.close()
            clock.advance(.seconds(13 * 86_400))
            _ = try restore()
            let restored = try await open()
            #expect(try await restored.store.exportSessions(after: nil, limit: 9) == before)
            #expect(try await restored.store.settings().restores == settings.restores)
            await restored.application.close()
            clock.advance(.seconds(86_400))
        }
        let last = try await open()
        clock.advance(.seconds(13 * 86_400 - 1))
        token = try await last.goOn(token)
        clock.advance(.seconds(1_209_600))
        await #expect(throws: ServiceError.refused(.ended(.idleExpired))) { try await last.goOn(token) }
        await last.application.close()
    }

    @Test("an export says from when idle times count after a restore, because no other database knows of it")
    func export() async throws {
        let stage = try await open()
        _ = try await createUser(stage)
        _ = try await stage.logIn("d1")
        _ = try await stage.store.backUp(to: folder.file("backup"), by: .system)
        await stage.application.close()
        clock.advance(.seconds(100 * 86_400))
        _ = try restore()
        let again = try await open()
        var exporter = Exporter(store: again.store, now: clock.wall.now, progress: ProgressBar.silent)
        var writer = try LineWriter(folder.file("export.jsonl"))
        try await exporter.run(program: "test", to: &writer)
        let text = try #require(folder.text("export.jsonl"))
        #expect(text.contains("\"renewed_at\":\(clock.wall.now.secondsSinceEpoch)"), "\(text)")
        await again.application.close()
    }

    @Test("an ending after the backup is undone, until it is repeated")
    func endings() async throws {
        let stage = try await open()
        _ = try await createUser(stage)
        var held = [try await stage.logIn("d1"), try await stage.logIn("d2")]
        _ = try await stage.store.backUp(to: folder.file("backup"), by: .system)
        for index in held.indices { _ = try await refresh(&held[index], stage) }
        try await stage.administration.revokeAllSessions(by: .system)
        await #expect(throws: ServiceError.refused(.ended(.revokedByAdmin))) { try await refresh(&held[0], stage) }
        // A login after the backup: the restored server does not know it.
        var late = try await stage.logIn("d3")
        await stage.application.close()
        let restored = try restore()
        #expect(restored.undone == ["all_sessions_revoked": 1, "session_ended": 1, "session_started": 1])

        let again = try await open()
        #expect(try await refresh(&held[0], again) == .restored)
        await #expect(throws: ServiceError.refused(.unknownSession)) { try await refresh(&late, again) }
        try await again.administration.revokeAllSessions(by: .system)
        for index in held.indices {
            await #expect(throws: ServiceError.refused(.ended(.revokedByAdmin))) {
                try await refresh(&held[index], again)
            }
        }
        await again.application.close()
    }
}
