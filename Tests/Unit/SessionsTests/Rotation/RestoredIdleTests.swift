import Testing

@testable import Sessions

/// Restores are one value of the settings. It must say of each session what a rewrite of its row at each restore would say.
@Suite struct RestoredIdleTests {
    private enum Step: CaseIterable { case wait, use, backUp, restore }

    /// A session of a database that rewrites its row at a restore, and of one that records the restore.
    private struct World: Hashable {
        static let idle = Duration.seconds(2)
        var rewritten = Sample.start
        var stored = Sample.start
        var restores: [Settings.Restore] = []

        var end: Instant { restores.idleStart(stored, Self.idle) + Self.idle }

        mutating func use(at now: Instant) { if now < end { (rewritten, stored) = (now, now) } }

        mutating func restore(_ backup: World, from: Instant, at now: Instant) {
            self = backup
            if rewritten + Self.idle > from { rewritten = now }
            restores.append(.init(from: from, at: now))
        }
    }

    @Test("each history of uses, backups and restores ends the session when a rewrite of its row would")
    func histories() {
        var histories = 0
        func walk(_ world: World, _ backup: (world: World, at: Instant)?, _ now: Instant, _ steps: Int) {
            histories += 1
            if world.end != world.rewritten + World.idle { Issue.record("\(world) at \(now.secondsSinceEpoch)") }
            if steps == 0 { return }
            for step in Step.allCases {
                var world = world
                switch step {
                case .wait: walk(world, backup, now + .seconds(1), steps - 1)
                case .use:
                    world.use(at: now)
                    walk(world, backup, now, steps - 1)
                case .backUp: walk(world, (world, now), now, steps - 1)
                case .restore:
                    guard let backup else { continue }
                    world.restore(backup.world, from: backup.at, at: now)
                    walk(world, backup, now, steps - 1)
                }
            }
        }
        walk(World(), nil, Sample.start, 7)
        #expect(histories > 10_000)
    }

    @Test("the restores of a settings row are read as they were written, and nothing else is read")
    func text() {
        let instants = [-1, 0, 1_800_000_000].map { Instant(secondsSinceEpoch: $0) }
        let restores = instants.map { Settings.Restore(from: $0, at: $0 + .seconds(5)) }
        for count in 0...3 {
            let some = Array(restores.prefix(count))
            #expect([Settings.Restore](text: some.text ?? "") == some)
        }
        #expect([Settings.Restore]().text == nil)
        for wrong in ["1", "1:", ":1", "1:2:3", "a:1", "1:2 3", "1:2,3:4"] {
            #expect([Settings.Restore](text: wrong) == nil, "\(wrong)")
        }
    }

    @Test("a restore begins anew what ends a session for silence: its idle time, that of its phone and of its browser")
    func silence() throws {
        var settings = Settings()
        let late = Sample.start + .seconds(100 * 86_400)
        let session = Sample.session()
        let client = Sample.client()
        func ending(at now: Instant) -> EndReason? {
            let record = SessionRecord(session: session, user: Sample.user(), client: client, settings: settings)
            return Sample.policy.ending(of: record, at: now)?.reason
        }
        #expect(ending(at: late) == .idleExpired)
        settings.restores = [.init(from: Sample.start + .seconds(5), at: late)]
        #expect(ending(at: late) == nil)
        #expect(ending(at: late + settings.sessions.offlineSessionIdle) == .idleExpired)
        var phone = Phone(session)
        phone.restores = settings.restores
        #expect(phone.silentSince(Sample.start, .seconds(60)) == late)
        #expect(phone.silentSince(Sample.start, .seconds(5)) == Sample.start)
        #expect(session.shortIdleEnd(settings) == late + BrowserHandle.shortIdle)
    }
}
