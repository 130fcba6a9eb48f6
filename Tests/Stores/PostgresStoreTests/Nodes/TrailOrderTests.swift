import Cryptography
import PostgresFixture
import Sessions
import Testing

@testable import PostgresStore

/// A reader of an event of the trail never misses one before it, although no writer of one waits for another. A reader that keeps
/// a cursor, as webhooks do, depends on it.
@Suite("PostgreSQL: the order of the trail", .timeLimit(.minutes(1)))
struct TrailOrderTests {
    private static let now = Instant(secondsSinceEpoch: 1_800_000_000)

    private static func event(_ reason: String, of session: Session? = nil) -> AuditEvent {
        AuditEvent(
            .sessionEnded, at: now, by: .system, userID: session?.userID, sessionID: session?.id,
            clientID: Client.mobileID, reason: reason)
    }

    private static func revocation(_ event: AuditEvent) -> RevokingEvent {
        RevokingEvent(event: event, revocation: Revocation(.sessionEnded, of: event, at: now, until: now + .seconds(9)))
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

    @Test("an event is not read before one with a smaller number that has not been committed", arguments: ways)
    func order(_ way: Way) async throws {
        let url = try PostgresServer.shared.newDatabase()
        let store = try openStore(url)
        let session = try await givenSession(store)
        let start = try await store.lastEvent()
        let slow = try HeldTransaction(url)
        try slow.add([RevokingEvent(event: Self.event("first"), revocation: nil)])
        // Does not wait for the other one.
        try await way.add(store, session, Self.event("second", of: session))
        #expect(try await store.events(after: start, limit: 9, userID: nil, sessionID: nil).isEmpty)
        #expect(try await store.sessionEnds(ofClient: Client.mobileID, after: start, limit: 9).isEmpty)
        #expect(try await store.lastEvent() == start)
        let step = try await store.remembered(after: start, limit: 9)
        #expect(step.place == start && step.events.isEmpty)
        // A list of the newest events shows what there is.
        #expect(try await store.events(before: nil, limit: 1).map(\.event.reason) == ["second"])
        try slow.commit()
        let events = try await store.events(after: start, limit: 9, userID: nil, sessionID: nil)
        #expect(events.map(\.event.reason) == ["first", "second"])
        #expect(try await store.lastEvent() == events.last?.id)
        await store.close()
    }

    @Test("a revocation is not read before one with a smaller number, and the end of the feed is before both")
    func revocations() async throws {
        let url = try PostgresServer.shared.newDatabase()
        let store = try openStore(url)
        func add(_ reason: String) throws {
            let transaction = try HeldTransaction(url)
            try transaction.add([Self.revocation(Self.event(reason))])
            try transaction.commit()
        }
        #expect(try await store.lastRevocation() == 0)
        try add("before")
        let start = try await store.lastRevocation()
        let slow = try HeldTransaction(url)
        try slow.add([Self.revocation(Self.event("first"))])
        try add("second")
        #expect(try await store.lastRevocation() == start)
        #expect(try await store.revocations(after: start, at: Self.now, limit: 9).isEmpty)
        #expect(try await store.revocations(after: start - 1, at: Self.now, limit: 9).map(\.reason) == ["before"])
        try slow.commit()
        let news = try await store.revocations(after: start, at: Self.now, limit: 9)
        #expect(news.map(\.reason) == ["first", "second"])
        #expect(try await store.lastRevocation() == news.last?.number)
        await store.close()
    }

    @Test("a rolled-back transaction holds nothing back, nor does one of another schema")
    func rolledBack() async throws {
        let url = try PostgresServer.shared.newDatabase()
        let store = try openStore(url)
        let others = try PostgresServer.shared.newDatabase()
        let otherStore = try openStore(others)
        let (slow, other) = (try HeldTransaction(url), try HeldTransaction(others))
        for transaction in [slow, other] { try transaction.add([Self.revocation(Self.event("never"))]) }
        try slow.rollBack()
        for reason in ["first", "second"] { try await store.append([Self.event(reason)]) }
        let events = try await store.events(after: 0, limit: 9, userID: nil, sessionID: nil)
        #expect(events.map(\.event.reason) == ["first", "second"])
        try other.rollBack()
        for store in [store, otherStore] { await store.close() }
    }

    @Test("numbers beyond 32 bits keep their order")
    func largeNumbers() async throws {
        let url = try PostgresServer.shared.newDatabase()
        let store = try openStore(url)
        let schema = url.split(separator: "%3D").last.map(String.init) ?? ""
        // One of them crosses the border at which the halves of a number begin anew.
        for edge in [2_147_483_647, 4_294_967_295, 8_589_934_591] as [Int64] {
            for table in ["audit_events", "revocations"] {
                try PostgresServer.shared.run("SELECT setval('\(table)_number_seq', \(edge - 1))", schema: schema)
            }
            let slow = try HeldTransaction(url)
            try slow.add([Self.revocation(Self.event("first"))])
            try await store.append([Self.event("second")])
            #expect(try await store.events(after: edge - 1, limit: 9, userID: nil, sessionID: nil).isEmpty)
            #expect(try await store.lastRevocation() == edge - 1)
            try slow.commit()
            let events = try await store.events(after: edge - 1, limit: 9, userID: nil, sessionID: nil)
            #expect(events.map(\.id) == [edge, edge + 1])
            #expect(try await store.lastRevocation() == edge)
        }
        await store.close()
    }

    @Test("a cursor that a reader has stays known when a writer announces an earlier number late")
    func lateAnnouncement() async throws {
        let url = try PostgresServer.shared.newDatabase()
        let store = try openStore(url)
        let ends = (0..<3).map { _ in Self.revocation(Self.event("end")) }
        let first = try HeldTransaction(url)
        try first.add([ends[0]])
        try first.commit()
        let feed = RevocationFeed(source: store, clock: WallClock { Self.now })
        let cursor = try #require(
            try await feed.page(after: .start, limit: 9)?.last.map { RevocationCursor(after: $0) })
        let late = try HeldTransaction(url)
        try late.announce(after: cursor.number - 1, of: .revocations)
        try late.announce(after: cursor.number - 1, of: .events)
        let next = try HeldTransaction(url)
        try next.add([ends[1], ends[2]])
        try next.commit()
        #expect(try await feed.knows(cursor))
        #expect(try await feed.page(after: cursor, limit: 9)?.count == 0)
        try late.rollBack()
        #expect(try await feed.page(after: cursor, limit: 9)?.count == 2)
        await store.close()
    }

    @Test("the largest cursor reads nothing")
    func largestCursor() async throws {
        let store = try openStore(try PostgresServer.shared.newDatabase())
        try await store.append([Self.event("first")])
        #expect(try await store.events(after: .max, limit: 9, userID: nil, sessionID: nil).isEmpty)
        await store.close()
    }

    @Test("the lag is the age of what is committed and not readable")
    func lag() async throws {
        let url = try PostgresServer.shared.newDatabase()
        let store = try openStore(url)
        let slow = try HeldTransaction(url)
        try slow.add([Self.revocation(Self.event("first"))])
        #expect(try await store.feedLag() == .zero)
        var old = Self.event("second")
        old.at = Self.now + .seconds(-7)
        try await store.append([old, Self.event("third")])
        #expect(try await store.feedLag() == .seconds(7))
        try slow.commit()
        #expect(try await store.feedLag() == .zero)
        await store.close()
    }
}
