import Cryptography
import Dispatch
import Locks
import PostgresFixture
import PostgresStore
import Sessions
import Testing

/// Every writer takes the same locks in the same order, so that two nodes never wait for each other: the server would notice
/// that only after a second, in which what they have locked stands still.
@Suite("PostgreSQL: the order of locks", .timeLimit(.minutes(2)))
struct DeadlockTests {
    private static let now = Instant(secondsSinceEpoch: 1_800_000_000)

    private static func event(of session: Session) -> AuditEvent {
        AuditEvent(.authenticationModeChanged, at: now, by: .system, userID: session.userID, sessionID: session.id)
    }

    /// A change that locks a session, decides, and adds to the trail.
    struct Way: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let run: @Sendable (PostgresStore, Session, _ decide: @escaping @Sendable () -> Void) async throws -> Void
    }

    private static let ways = [
        Way(testDescription: "a login") { store, session, decide in
            let opened: Void? = try await store.openSession(
                userID: session.userID, clientID: session.clientID, deviceID: session.device.id
            ) { opening in
                decide()
                opening.session = Session(
                    id: Identifier(random: .system), userID: session.userID, clientID: session.clientID,
                    device: session.device, startedAt: now, epoch: 1)
                opening.events = [event(of: session)]
            }
            #expect(opened != nil)
        },
        Way(testDescription: "the answer of a provider") { store, session, decide in
            let settled: Void? = try await store.updateProviderCheck(session.id) { change in
                decide()
                change.session.confirmation = ProviderConfirmation(provider: "p", at: now)
                change.events = [event(of: session)]
            }
            #expect(settled != nil)
        },
    ]

    @Test(
        "a change with an event waits for the holder of its session, and no other change waits for it", arguments: ways)
    func order(_ way: Way) async throws {
        let url = try PostgresServer.shared.newDatabase()
        let failures = Locked<[String]>([])
        let stores = try (0..<2).map { _ in
            try openStore(url) { options in
                options.observer.failed = { text in failures.withLock { $0.append(text) } }
            }
        }
        let session = try await givenSession(stores[0])
        let (hasSession, goesOn) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        async let first: Void = way.run(stores[0], session) {
            hasSession.signal()
            _ = goesOn.wait(timeout: .now() + 50)
        }
        try await onThread { hasSession.wait() }
        let isDone = Locked(false)
        async let second: Void = {
            let renamed: Void? = try await stores[1].updateSession(session.id) { change in
                change.session.device.name = "Anna's"
                change.events = [Self.event(of: session)]
            }
            #expect(renamed != nil)
            isDone.withLock { $0 = true }
        }()
        let waiting = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
        while !isDone.withLock({ $0 }), try PostgresServer.shared.run(waiting) == "0\n" { await Task.yield() }
        goesOn.signal()
        _ = try await (first, second)
        #expect(failures.withLock { $0 } == [])
        for store in stores { await store.close() }
    }

    @Test("two nodes that change the same sessions in batches never wait for each other")
    func batches() async throws {
        let url = try PostgresServer.shared.newDatabase()
        let failures = Locked<[String]>([])
        let stores = try (0..<2).map { _ in
            try openStore(url) { options in
                options.observer.failed = { text in failures.withLock { $0.append(text) } }
            }
        }
        var sessions: [Session] = []
        for number in 0..<16 { sessions.append(try await givenSession(stores[0], "user-\(number)")) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for store in stores {
                for (place, session) in sessions.enumerated() {
                    group.addTask {
                        for round in 0..<100 {
                            let isRotation = (place + round).isMultiple(of: 2)
                            let changed: Void? = try await store.updateSession(session.id) { change in
                                change.session.child += 1
                                if !isRotation { change.events = [Self.event(of: session)] }
                            }
                            #expect(changed != nil)
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(failures.withLock { $0 } == [])
        for session in sessions { #expect(try await stores[0].session(session.id)?.session.child == 201) }
        for store in stores { await store.close() }
    }
}
