import Dispatch
import PostgresFixture
import Sessions
import StoreConformance
import Testing

@testable import PostgresStore

/// What ends tokens by the time of their issue waits until every refresh of before is committed, and reaches as far as these.
@Suite("PostgreSQL: revocations by time of issue", .timeLimit(.minutes(1)))
struct CutoffTests {
    /// A change that ends tokens.
    struct Change: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let make: @Sendable (PostgresStore, Session, AuditEvent) async throws -> Void
    }

    private static let changes = [
        Change(testDescription: "of settings") { store, _, event in
            try await store.updateSettings { $0.events = [event] }
        },
        Change(testDescription: "of a client") { store, _, event in
            try await store.updateClient(Client.mobileID) { $0.events = [event] }
        },
        Change(testDescription: "of a user") { store, session, event in
            _ = try await store.updateUser(.id(session.userID)) { $0.events = [event] }
        },
    ]

    /// Holds the door open as a refresh does, from when it has told so until it is let.
    private static func refreshSlowly(
        of userID: Identifier<User>, _ url: String, _ isUnderWay: DispatchSemaphore, _ commit: DispatchSemaphore
    ) throws {
        let connection = try connect(url)
        try Transaction.run(
            on: connection, [UserLocks(sharing: [UserLocks.number(of: userID)]).taking], timeLeft: .seconds(60),
            until: ContinuousClock.now + .seconds(60)
        ) { (transaction) throws(DatabaseError) in
            defer { isUnderWay.signal() }
            _ = try transaction.run(Statement("SELECT 1"))
            isUnderWay.signal()
            _ = commit.wait(timeout: .now() + 50)
        }
    }

    @Test("a change that waits for a refresh reaches as far as its token", arguments: changes)
    func reach(_ change: Change) async throws {
        let clock = MovableClock(Instant(secondsSinceEpoch: 1_800_000_000))
        let url = try PostgresServer.shared.newDatabase()
        let store = try openStore(url) { $0.clock = clock.wallClock }
        let session = try await givenSession(store)
        let (isUnderWay, commit) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        async let slow: Void = onThread { try Self.refreshSlowly(of: session.userID, url, isUnderWay, commit) }
        try await onThread { isUnderWay.wait() }
        var event = AuditEvent(.settingsChanged, at: clock.now, by: .system)
        event.revokes = .lifetimesShortened
        async let changed: Void = change.make(store, session, event)
        let waiting = """
            SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted AND (
                classid = \(TransactionLock.accounts.rawValue >> 32) AND objid = \(TransactionLock.accounts.rawValue & 0xFFFF_FFFF)
                OR classid = \(UserLocks.space) AND objid = \(UserLocks.number(of: session.userID)) AND objsubid = 2)
            """
        while try PostgresServer.shared.run(waiting) == "0\n" { await Task.yield() }
        clock.advance(by: .seconds(7))
        commit.signal()
        _ = try await (slow, changed)
        let feed = try await store.revocations(after: 0, at: clock.now, limit: 9)
        #expect(feed.map(\.at) == [clock.now + .seconds(1)])
        await store.close()
    }
}
