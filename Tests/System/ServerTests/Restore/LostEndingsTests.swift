import Cryptography
import Locks
import PostgresFixture
import Telemetry
import Testing

@testable import Configuration
@testable import Server
@testable import Sessions
@testable import sojourn

/// Two nodes on a primary with a standby that lags behind: what they acknowledged is lost by a fail-over or a restore.
@Suite("Endings that a database loses", .timeLimit(.minutes(3)))
struct LostEndingsTests {
    private final class Node: Sendable {
        let application: Application
        let watch: RewindWatch
        /// By how much the clock of the watch is ahead.
        let lead = Locked(Duration.zero)
        private let lines: Locked<[String]>

        var store: any Store { application.context.store }
        var administration: Administration { Administration(application.context) }

        init(_ url: String, _ folder: StartingFolder) async throws {
            var configuration = folder.configuration
            configuration.database.location = .postgres(url: url)
            let lines = Locked<[String]>([])
            let sink = LogSink { line in lines.withLock { $0.append(String(decoding: line, as: UTF8.self)) } }
            var environment = Environment(
                clock: .system, logger: Logger(level: .notice, sink: sink, clock: { 0 }),
                rootKeyVariable: Hex.encode([UInt8](repeating: 5, count: 32)))
            environment.followsDatabaseClock = true
            self.lines = lines
            application = try await Application.open(configuration, environment)
            let lead = lead
            let made = RewindWatch(application, environment, now: { ContinuousClock.now + lead.withLock { $0 } })
            watch = try #require(made)
        }

        func has(line text: String) -> Bool { lines.withLock { $0.contains { $0.contains(text) } } }

        func number(_ metric: String) -> String? {
            application.metrics.render().split(separator: "\n").last { $0.hasPrefix(metric + " ") }
                .map { String($0.split(separator: " ")[1]) }
        }

        func logIn(_ username: String, _ device: String) async throws -> Identifier<Session> {
            let request = SessionRequest(clientID: Client.mobileID, device: Device(id: device))
            return try await Services(application.context).login
                .mintSession(request, for: .username(username), from: .system).session.id
        }

        func ending(_ id: Identifier<Session>) async throws -> EndReason? {
            try await store.session(id)?.session.ending?.reason
        }
    }

    /// The nodes, and what they do that will be lost.
    private final class World {
        let primary: PostgresServer
        let standby: PostgresServer
        let nodes: [Node]
        private let folder = StartingFolder()
        private(set) var sessions: [Identifier<Session>] = []
        private(set) var keyID = ""

        init() async throws {
            primary = try PostgresServer()
            try primary.run("CREATE SCHEMA app")
            standby = try PostgresServer(following: primary)
            let url = primary.url(schema: "app", or: standby)
            nodes = [try await Node(url, folder), try await Node(url, folder)]
            for name in ["anna", "berta", "carla", "dora", "erna", "frida"] {
                _ = try await nodes[0].administration.createUser(
                    username: name, password: nil, profile: User.Profile(), offlineSessionMax: nil, by: .admin)
            }
            for device in ["a", "b", "c"] { sessions.append(try await nodes[0].logIn("anna", device)) }
            for name in ["berta", "carla"] { sessions.append(try await nodes[0].logIn(name, "a")) }
            keyID = try await nodes[0].administration.createAdminKey(name: "old", by: .admin).0.id
            _ = try await nodes[0].administration.createClient(id: "shop", by: .admin) { _ in nil }
            try standby.catchUp(with: primary)
            for node in nodes { await node.watch.look() }
        }

        /// Acts at both nodes that end something, one of them contradicted by the other node.
        func act() async throws {
            let (first, second) = (nodes[0].administration, nodes[1].administration)
            try await first.endSession(sessions[0], by: .admin)
            try await second.endSession(sessions[1], by: .admin)
            for name in ["berta", "erna"] {
                _ = try await first.disable(
                    .username(name), effective: .immediate, revokingSessions: name == "berta", note: "lost",
                    by: .admin)
            }
            _ = try await first.deleteUser(.username("carla"), by: .admin)
            _ = try await first.disable(
                .username("dora"), effective: .immediate, revokingSessions: false, note: nil, by: .admin)
            // In another second: acts of two nodes are told apart by it.
            try await Self.nextSecond()
            _ = try await second.enable(.username("dora"), includingOwnSwitch: false, by: .admin)
            try await second.deleteAdminKey(keyID, by: .admin)
            try await second.deleteClient("shop", by: .admin)
        }

        static func nextSecond() async throws {
            let now = WallClock.system.now
            while WallClock.system.now <= now + .seconds(1) { try await Task.sleep(for: .milliseconds(20)) }
        }

        /// Waits until both nodes have found the other server.
        func reconnect() async throws {
            let deadline = ContinuousClock.now + .seconds(60)
            for node in nodes {
                while ContinuousClock.now < deadline {
                    do throws(StoreError) {
                        try await node.store.ping()
                        break
                    } catch { try await Task.sleep(for: .milliseconds(50)) }
                }
            }
        }

        /// Makes the standby the primary, which stops without a word.
        func failOver() async throws {
            try primary.control("stop", "-m", "immediate")
            try standby.control("promote")
            try await reconnect()
        }

        func close() async { for node in nodes { await node.application.close() } }
    }

    @Test(
        "after a fail-over endings are in effect again, whichever node looks first, and unsure ones are reported",
        arguments: [[0, 1], [1, 0]])
    func failOver(order: [Int]) async throws {
        let world = try await World()
        try world.standby.stopFollowing()
        try await world.act()
        try await world.failOver()
        let store = world.nodes[0].store
        // All of it is lost.
        for id in world.sessions { #expect(try await world.nodes[0].ending(id) == nil) }
        #expect(try await store.user(.username("carla")) != nil)
        // An act at the new primary, before the nodes have noticed anything, is the later one.
        _ = try await world.nodes[1].administration.enable(
            .username("erna"), includingOwnSwitch: false, by: .admin)
        for index in order { await world.nodes[index].watch.look() }
        await expectEffects(world, isFailOver: true)
        #expect(try await world.nodes[0].ending(world.sessions[4]) == .userDeleted)
        for node in world.nodes {
            #expect(node.has(line: "their endings are applied again"))
            #expect(node.number("sojourn_database_rewinds_total") == "1")
        }
        for (node, count) in zip(world.nodes, ["1", "2"]) {
            #expect(node.number(#"sojourn_lost_endings_total{outcome="applied"}"#) ?? "0" != "0")
            #expect(node.number(#"sojourn_lost_endings_total{outcome="reported"}"#) == count)
        }
        // Nothing is done twice.
        let trail = try await store.events(before: nil, limit: 200).count
        for index in order { await world.nodes[index].watch.look() }
        #expect(try await store.events(before: nil, limit: 200).count == trail)
        await world.close()
    }

    /// Deletions of users and clients, and what enables logins again, are not applied again.
    private func expectEffects(_ world: World, isFailOver: Bool) async {
        do {
            let (node, store) = (world.nodes[0], world.nodes[0].store)
            #expect(try await node.ending(world.sessions[0]) == .revokedByAdmin)
            #expect(try await node.ending(world.sessions[1]) == .revokedByAdmin)
            #expect(try await node.ending(world.sessions[2]) == nil)
            #expect(try await node.ending(world.sessions[3]) == .revokedByAdmin)
            let berta = try await store.user(.username("berta"))?.disabledByAdmin
            #expect(berta?.effective == .immediate && berta?.note == "lost")
            #expect(try await (store.user(.username("carla")) != nil) == isFailOver)
            #expect(try await (store.user(.username("dora"))?.disabledByAdmin != nil) == isFailOver)
            #expect(try await (store.user(.username("erna"))?.disabledByAdmin != nil) == !isFailOver)
            #expect(try await store.user(.username("frida"))?.disabledByAdmin == nil)
            #expect(try await !node.administration.adminKeys().contains { $0.id == world.keyID })
            #expect(try await (store.client("shop") != nil) == isFailOver)
        } catch { Issue.record(error) }
    }

    @Test("a block of which the last change was lost is never weaker than before")
    func block() async throws {
        let world = try await World()
        let node = world.nodes[0]
        func disable(_ note: String?) async throws {
            _ = try await node.administration.disable(
                .username("frida"), effective: .immediate, revokingSessions: false, note: note, by: .admin)
        }
        try await disable(nil)
        try world.standby.catchUp(with: world.primary)
        try world.standby.stopFollowing()
        try await World.nextSecond()
        try await disable("lost")
        try await world.failOver()
        await node.watch.look()
        let frida = try await node.store.user(.username("frida"))?.disabledByAdmin
        #expect(frida?.effective == .immediate && frida?.note == "lost")
        await world.close()
    }

    @Test("a revocation of all sessions is in effect again, once")
    func revokeAll() async throws {
        let world = try await World()
        try world.standby.stopFollowing()
        try await world.nodes[0].administration.revokeAllSessions(by: .admin)
        try await world.failOver()
        let before = try await world.nodes[0].store.settings().epoch
        for _ in 0..<2 { for node in world.nodes { await node.watch.look() } }
        let settings = try await world.nodes[0].store.settings()
        #expect(settings.epoch == before + 1 && settings.revokedBefore?.epoch == before + 1)
        await world.close()
    }

    @Test("after a restore to an earlier state endings are reported, and none is applied again")
    func restore() async throws {
        let world = try await World()
        // A copy of the files, which is started for the restore.
        try world.standby.control("stop")
        try await world.act()
        for node in world.nodes { await node.watch.look() }
        try world.primary.control("stop", "-m", "immediate")
        try world.standby.control("start")
        try world.standby.control("promote")
        try await world.reconnect()
        for node in world.nodes { await node.watch.look() }
        try await expectNothingApplied(world)
    }

    @Test("a server that has lost an ending of more than a minute before is taken for a restored one")
    func longAgo() async throws {
        let world = try await World()
        try world.standby.stopFollowing()
        try await world.act()
        // The event of a minute before is still that of the first look, which the standby has.
        for node in world.nodes {
            node.lead.withLock { $0 = .seconds(300) }
            await node.watch.look()
        }
        try await world.failOver()
        for node in world.nodes { await node.watch.look() }
        try await expectNothingApplied(world)
    }

    @Test("a lost login is noticed, although later ones have come to the new primary")
    func lostLogin() async throws {
        let world = try await World()
        try world.standby.stopFollowing()
        _ = try await world.nodes[0].logIn("dora", "a")
        try await World.nextSecond()
        try await world.failOver()
        _ = try await world.nodes[0].logIn("erna", "a")
        for node in world.nodes { await node.watch.look() }
        #expect(world.nodes[0].number("sojourn_database_rewinds_total") == "1")
        #expect(world.nodes[1].number("sojourn_database_rewinds_total") ?? "0" == "0")
        await world.close()
    }

    private func expectNothingApplied(_ world: World) async throws {
        for id in world.sessions { #expect(try await world.nodes[0].ending(id) == nil) }
        #expect(try await world.nodes[0].store.user(.username("carla")) != nil)
        #expect(try await world.nodes[0].store.client("shop") != nil)
        for node in world.nodes {
            #expect(node.has(line: "are not applied again") && !node.has(line: "their endings are applied again"))
            #expect(node.number("sojourn_database_rewinds_total") == "1")
            #expect(node.number(#"sojourn_lost_endings_total{outcome="applied"}"#) ?? "0" == "0")
        }
        await world.close()
    }

    @Test("a restart and a fail-over without a loss are no rewind")
    func nothingLost() async throws {
        let world = try await World()
        try await world.act()
        try world.primary.control("restart", "-m", "immediate")
        try await world.reconnect()
        for node in world.nodes { await node.watch.look() }
        try world.standby.catchUp(with: world.primary)
        try await world.failOver()
        for node in world.nodes { await node.watch.look() }
        await expectEffects(world, isFailOver: false)
        for node in world.nodes {
            #expect(node.number("sojourn_database_rewinds_total") ?? "0" == "0")
            #expect(node.has(line: "has lost nothing"))
        }
        await world.close()
    }

    @Test("the memory of endings is bounded by number and by the age at a look, and no outage empties it")
    func memory() {
        let (begin, passed) = (ContinuousClock.now, Locked(Duration.zero))
        let endings = AcknowledgedEndings { passed.withLock { begin + $0 } }
        let user = Identifier<User>(random: .system)
        let session = Identifier<Session>(random: .system)
        func event(_ kind: AuditEvent.Kind) -> AuditEvent {
            AuditEvent(
                kind, at: Instant(secondsSinceEpoch: 0), by: .system, userID: user, sessionID: session,
                reason: EndReason.loggedOut.rawValue)
        }
        endings.note([event(.sessionStarted), event(.userDeleted)])
        #expect(endings.endings.map(\.event.kind) == [.userDeleted] && endings.recent.map(\.kind) == [.userDeleted])
        endings.forget(lookedAt: begin)
        passed.withLock { $0 += AcknowledgedEndings.retention * 5 }
        endings.note([event(.loginsDisabled)])
        #expect(endings.endings.map(\.event.kind) == [.userDeleted, .loginsDisabled])
        #expect(endings.recent.map(\.kind) == [.userDeleted, .loginsDisabled])
        endings.forget(lookedAt: begin + AcknowledgedEndings.retention * 2)
        #expect(endings.endings.map(\.event.kind) == [.loginsDisabled])
        #expect(endings.recent.map(\.kind) == [.loginsDisabled])
        for _ in 0..<30 { endings.note((0..<1000).map { _ in event(.sessionEnded) }) }
        // Ends of sessions leave other endings their place.
        #expect(endings.endings.count == AcknowledgedEndings.countMax + 1)
        #expect(endings.endings.first?.event.kind == .loginsDisabled)
        endings.note([event(.adminKeyDeleted)])
        #expect(endings.endings.last?.event.kind == .adminKeyDeleted)
    }

    @Test("of the switches of logins that one node acknowledged the last one stands, whatever the clocks said")
    func contradictions() {
        let endings = AcknowledgedEndings()
        let user = Identifier<User>(random: .system)
        var second: Int64 = 100
        func kinds(_ acts: [(AuditEvent.Kind, Origin)]) -> [AuditEvent.Kind] {
            let before = endings.endings.count
            for (kind, origin) in acts {
                second -= 1
                endings.note([
                    AuditEvent(kind, at: Instant(secondsSinceEpoch: second), by: origin, userID: user)
                ])
            }
            return LostEndings.standing(Array(endings.endings.dropFirst(before))).map(\.event.kind)
        }
        let own = Origin(actor: Origin.userActor)
        #expect(kinds([(.loginsDisabled, .admin), (.loginsEnabled, .admin)]) == [.loginsEnabled])
        #expect(kinds([(.loginsEnabled, .admin), (.loginsDisabled, .admin)]) == [.loginsDisabled])
        #expect(kinds([(.loginsDisabled, .admin), (.loginsEnabled, own)]) == [.loginsDisabled, .loginsEnabled])
        // An admin can have enabled both.
        #expect(kinds([(.loginsDisabled, own), (.loginsEnabled, .admin)]) == [.loginsEnabled])
    }
}

extension Origin {
    fileprivate static let admin = Origin(actor: "admin:test")
}
