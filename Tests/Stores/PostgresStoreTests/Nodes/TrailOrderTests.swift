import Cryptography
import Dispatch
import Locks
import PostgresFixture
import Sessions
import Testing

@testable import PostgresStore

/// A reader of an event of the trail never misses one before it: a writer of one waits for those that have added theirs and have
/// not committed yet. A reader that keeps a cursor, as webhooks do, depends on it.
@Suite("PostgreSQL: the order of the trail", .timeLimit(.minutes(1)))
struct TrailOrderTests {
    private static let now = Instant(secondsSinceEpoch: 1_800_000_000)

    private static func event(_ reason: String, of session: Session? = nil) -> AuditEvent {
        AuditEvent(
            .sessionEnded, at: now, by: .system, userID: session?.userID, sessionID: session?.id, reason: reason)
    }

    /// A way in which events come into the trail.
    struct Way: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let add: @Sendable (PostgresStore, Session, AuditEvent) async throws -> Void
    }

    private static let ways = [
        Way(testDescription: "alone") { store, _, event in try await store.append([event]) },
        Way(testDescription: "with a change of a session") { store, session, event in
            let changed: Void? = try await store.updateSession(session.id) { change in
                change.session.child += 1
                change.events = [event]
            }
            #expect(changed != nil)
        },
        Way(testDescription: "with a new session") { store, session, event in
            let opened: Void? = try await store.openSession(
                userID: session.userID, clientID: Client.mobileID, deviceID: "tablet"
            ) { opening in
                opening.session = Session(
                    id: Identifier(random: .system), userID: session.userID, clientID: Client.mobileID,
                    device: Device(id: "tablet"), startedAt: now, epoch: 1)
                opening.events = [event]
            }
            #expect(opened != nil)
        },
        Way(testDescription: "with a new user") { store, _, event in
            let user = User(id: Identifier(random: .system), username: "berta", createdAt: now)
            let isNew = try await store.insertUser(user, from: .admin, events: [event])
            #expect(isNew)
        },
    ]

    /// In a transaction of its own, adds an event, tells so, and commits when it is let.
    private static func addSlowly(
        _ url: String, _ event: AuditEvent, _ added: DispatchSemaphore, _ commit: DispatchSemaphore
    ) throws {
        let deadline = ContinuousClock.now + .seconds(60)
        let connection = try Connection(
            url: url, patience: .seconds(10), names: StatementNames(areUsed: false), now: { .now })
        try Transaction.run(on: connection, [], timeLeft: .seconds(60), until: deadline) {
            (transaction) throws(DatabaseError) in
            defer { added.signal() }
            // It only shares the lock, so that a writer that does not take it alone passes by.
            _ = try transaction.run(
                [TransactionLock.trail.shared]
                    + EventSQL.insert([RevokingEvent(event: event, revocation: nil)]).dropFirst())
            added.signal()
            _ = commit.wait(timeout: .now() + 50)
        }
    }

    @Test("an event is not seen before one with a smaller number that has not been committed", arguments: ways)
    func order(_ way: Way) async throws {
        let url = try PostgresServer.shared.newDatabase()
        let store = try openStore(url)
        let session = try await givenSession(store)
        let before = try await store.events(after: 0, limit: 200, userID: nil, sessionID: nil).last?.id ?? 0
        let (added, commit, isDone) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0), Locked(false))
        async let slow: Void = onThread { try Self.addSlowly(url, Self.event("first"), added, commit) }
        try await onThread { added.wait() }
        async let fast: Void = {
            try await way.add(store, session, Self.event("second", of: session))
            isDone.withLock { $0 = true }
        }()
        // The number of the lock, in two halves.
        let waiting = """
            SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted
                AND classid = \(TransactionLock.trail.rawValue >> 32) AND objid = \(TransactionLock.trail.rawValue & 0xFFFF_FFFF)
            """
        while !isDone.withLock({ $0 }), try PostgresServer.shared.run(waiting) == "0\n" { await Task.yield() }
        #expect(try await store.events(after: before, limit: 9, userID: nil, sessionID: nil).isEmpty)
        commit.signal()
        _ = try await (slow, fast)
        let events = try await store.events(after: before, limit: 9, userID: nil, sessionID: nil)
        #expect(events.map(\.event.reason) == ["first", "second"])
        await store.close()
    }
}
