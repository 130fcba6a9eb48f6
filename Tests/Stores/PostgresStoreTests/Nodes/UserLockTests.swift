import Cryptography
import Dispatch
import Locks
import PostgresFixture
import Sessions
import StoreConformance
import Testing

@testable import PostgresStore

/// A change of a user stops what has to do with that user, and nothing of others; a change of settings stops everything.
///
/// The server belongs to this suite alone, because databases of tests share one set of advisory locks.
@Suite("PostgreSQL: locks of users", .serialized, .timeLimit(.minutes(2)))
struct UserLockTests {
    private static let server = Result { try PostgresServer() }
    private static let start = Instant(secondsSinceEpoch: 1_800_000_000)

    /// A pause of a change inside its transaction.
    private struct Pause: Sendable {
        private let hasBegun = DispatchSemaphore(value: 0)
        private let mayEnd = DispatchSemaphore(value: 0)

        func waitInside() {
            hasBegun.signal()
            mayEnd.wait()
        }

        func awaitBegin() async throws { try await onThread { hasBegun.wait() } }

        func end() { mayEnd.signal() }
    }

    /// Opens two nodes. Deadlocks, and whatever else goes wrong at the database, fail the test.
    private static func withNodes(
        _ body: (_ nodes: [PostgresStore]) async throws -> Void
    ) async throws {
        let failures = Locked<[String]>([])
        let url = try server.get().newDatabase()
        let nodes = try (0..<2).map { _ in
            try openStore(url) { options in
                options.observer.failed = { text in failures.withLock { $0.append(text) } }
            }
        }
        try await body(nodes)
        for node in nodes { await node.close() }
        #expect(failures.withLock { $0 } == [])
    }

    /// Sessions of two users with locks of their own, each with all that an act needs.
    private static func givenSessions(_ store: PostgresStore) async throws -> (Session, Session) {
        var sessions: [Session] = []
        while sessions.count < 2 {
            let session = try await givenSession(store, "user-\(Identifier<User>(random: .system))")
            let numbers = (sessions + [session]).map { UserLocks.number(of: $0.userID) }
            if Set(numbers).count == numbers.count { sessions.append(session) }
        }
        for session in sessions { try await UserAct.prepare(session, in: store) }
        return (sessions[0], sessions[1])
    }

    /// Waits until a transaction waits for the lock with those keys.
    private static func awaitWaiter(_ space: Int64, _ number: Int64, isDone: () -> Bool) async throws {
        let waiting = """
            SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted
                AND classid = \(space) AND objid = \(number)
            """
        while try server.get().run(waiting) == "0\n" {
            if isDone() { return #expect(Bool(false), "it does not wait") }
            await Task.yield()
        }
    }

    /// Runs `act`, which has to wait for the lock with those keys until `release` was called.
    private static func expectWaiting(
        for space: Int64, _ number: Int64, until release: () -> Void,
        _ act: @escaping @Sendable () async throws -> Void
    ) async throws {
        let isDone = Locked(false)
        async let waiter: Void = {
            defer { isDone.withLock { $0 = true } }
            try await act()
        }()
        try await awaitWaiter(space, number) { isDone.withLock { $0 } }
        release()
        try await waiter
    }

    @Test("a change of a user that is not committed stops no other user, and what has to do with this one waits for it")
    func changeOfUser() async throws {
        try await Self.withNodes { nodes in
            for act in UserAct.allCases {
                let (session, other) = try await Self.givenSessions(nodes[0])
                let pause = Pause()
                async let change: UserUpdate<Void> = nodes[1].updateUser(.id(session.userID)) { change in
                    change.user.profile.country = "CH"
                    pause.waitInside()
                }
                try await pause.awaitBegin()
                try await act.run(on: other, at: nodes[0])
                let number = Int64(UserLocks.number(of: session.userID))
                try await Self.expectWaiting(
                    for: Int64(UserLocks.space), number, until: pause.end
                ) { try await act.run(on: session, at: nodes[0]) }
                guard case .done = try await change else { return #expect(Bool(false)) }
                #expect(try await nodes[0].user(.id(session.userID))?.profile.country == "CH")
            }
        }
    }

    @Test("a change of settings that is not committed stops every act on a session or a user")
    func changeOfSettings() async throws {
        try await Self.withNodes { nodes in
            for act in UserAct.allCases {
                let (session, _) = try await Self.givenSessions(nodes[0])
                let pause = Pause()
                async let change: Void = nodes[1].updateSettings { _ in
                    pause.waitInside()
                }
                try await pause.awaitBegin()
                let lock = TransactionLock.accounts.rawValue
                try await Self.expectWaiting(
                    for: lock >> 32, lock & 0xFFFF_FFFF, until: pause.end
                ) { try await act.run(on: session, at: nodes[0]) }
                try await change
            }
        }
    }

    @Test(
        "a refresh that is not committed before a change of its user is not committed after it with what was true before"
    )
    func refreshesBesideChanges() async throws {
        try await Self.withNodes { nodes in
            let session = try await givenSession(nodes[0])
            let isOver = Locked(false)
            async let refreshes: Void = {
                while !isOver.withLock({ $0 }) {
                    try await nodes[0].updateSession(session.id) { change in
                        change.session.child += 1
                        // What the decision has seen of the user.
                        change.session.device.name = change.user?.profile.displayName
                    }
                }
            }()
            for number in 1...200 {
                let update = try await nodes[1].updateUser(.id(session.userID), asking: session.id) {
                    change -> UInt64 in
                    change.user.profile.displayName = "\(number)"
                    return change.asking?.child ?? 0
                }
                guard case .done(let child, _) = update else { return #expect(Bool(false)) }
                let later = try #require(try await nodes[1].session(session.id)).session
                #expect(later.child == child || later.device.name == "\(number)")
            }
            isOver.withLock { $0 = true }
            try await refreshes
        }
    }

    @Test("changes of several users in opposite orders never wait for each other")
    func severalUsers() async throws {
        try await Self.withNodes { nodes in
            let (one, two) = try await Self.givenSessions(nodes[0])
            let users = [one.userID, two.userID]
            try await withThrowingTaskGroup(of: Void.self) { group in
                for (node, order) in zip(nodes, [users, users.reversed()]) {
                    group.addTask {
                        for _ in 0..<50 {
                            try await node.write(.accounts(of: order)) { (transaction) throws(TransactionError) in
                                for id in order {
                                    guard var user = try transaction.userForUpdate(.id(id)).value() else { continue }
                                    user.profile.displayName = "\((Int(user.profile.displayName ?? "") ?? 0) + 1)"
                                    transaction.update(user)
                                }
                            }
                        }
                    }
                }
                try await group.waitForAll()
            }
            for id in users { #expect(try await nodes[0].user(.id(id))?.profile.displayName == "100") }
        }
    }

    @Test("a transaction that meets a further user runs again, with the locks of all of them")
    func furtherUser() async throws {
        try await Self.withNodes { nodes in
            let (one, two) = try await Self.givenSessions(nodes[0])
            let (held, attempts) = (Locked<[String]>([]), Locked(0))
            try await nodes[0].write(.sessions) { (transaction) throws(TransactionError) in
                attempts.withLock { $0 += 1 }
                _ = try transaction.sessionForUpdate(one.id).value()
                held.withLock { $0.append(Self.heldLocks()) }
                guard var user = try transaction.userForUpdate(.id(two.userID)).value() else { return }
                held.withLock { $0.append(Self.heldLocks()) }
                user.profile.displayName = "changed"
                transaction.update(user)
            }
            let (first, second) = (UserLocks.number(of: one.userID), UserLocks.number(of: two.userID))
            func locks(_ modes: [(Int32, String)]) -> String {
                modes.sorted { $0.0 < $1.0 }.map { "\($0.0) \($0.1)\n" }.joined()
            }
            let (shared, alone) = ("ShareLock", "ExclusiveLock")
            let both = [[(first, shared), (second, shared)], [(first, shared), (second, alone)]].map(locks)
            #expect(held.withLock { $0 } == [locks([(first, shared)]), both[0], both[0], both[1], both[1]])
            // Server and node give the first user's lock the same number, or there would be one attempt more.
            #expect(attempts.withLock { $0 } == 3)
            #expect(try await nodes[1].user(.id(two.userID))?.profile.displayName == "changed")
        }
    }

    /// The locks of users that are held, by number.
    private static func heldLocks() -> String {
        let listing = """
            SELECT objid::text || ' ' || mode FROM pg_locks
            WHERE locktype = 'advisory' AND granted AND classid = \(UserLocks.space) AND objsubid = 2 ORDER BY objid
            """
        return (try? server.get().run(listing)) ?? ""
    }

    @Test("a login by an identity that waits for the deletion of its user makes a new one")
    func loginBesideDeletion() async throws {
        try await Self.withNodes { nodes in
            let (session, _) = try await Self.givenSessions(nodes[0])
            let pause = Pause()
            async let deletion: UserUpdate<Void> = nodes[1].updateUser(.id(session.userID)) { change in
                change.deletes = true
                change.ending = .init(.userDeleted, at: Self.start)
                pause.waitInside()
            }
            try await pause.awaitBegin()
            let user = User(id: Identifier(random: .system), username: "new", createdAt: Self.start)
            let key = try #require(Identity.Key(provider: "p", subject: session.userID.description))
            let token = OneTimeToken(
                .identityToken, of: "p", id: "1", goodUntil: Self.start + .seconds(9), at: Self.start)
            let number = Int64(UserLocks.number(of: session.userID))
            try await Self.expectWaiting(for: Int64(UserLocks.space), number, until: pause.end) {
                let owner = try await nodes[0].openSession(
                    by: IdentityLogin(key, token: token, newUsers: [user], at: Self.start),
                    clientID: session.clientID, deviceID: "d"
                ) { opening in
                    opening.session = Session(
                        id: Identifier(random: .system), userID: opening.user.id, clientID: session.clientID,
                        device: Device(id: "d"), startedAt: Self.start, epoch: 1)
                    return opening.user.id
                }
                #expect(owner == user.id)
            }
            guard case .done = try await deletion else { return #expect(Bool(false)) }
        }
    }

    @Test("of two users that get one name at the same time, the second hears that it is taken")
    func nameAtTheSameTime() async throws {
        let url = try Self.server.get().newDatabase()
        let store = try openStore(url)
        let (one, two) = try await Self.givenSessions(store)
        let renaming = Statement(
            "UPDATE users SET username = 'same', username_key = 'same' WHERE id = $1::uuid", one.userID)
        let isDone = Locked(false)
        var second: Task<UserUpdate<Void>, any Error>?
        try await holding(renaming, on: url) {
            second = Task {
                defer { isDone.withLock { $0 = true } }
                return try await store.updateUser(.id(two.userID)) { $0.user.username = "same" }
            }
            let waiting = "SELECT count(*) FROM pg_locks WHERE locktype = 'transactionid' AND NOT granted"
            while try Self.server.get().run(waiting) == "0\n", !isDone.withLock({ $0 }) { await Task.yield() }
        }
        guard case .usernameTaken = try await second?.value else { return #expect(Bool(false)) }
        #expect(try await store.user(.id(two.userID))?.username != "same")
        await store.close()
    }

    @Test("a batch that finds the server's table of locks full is written in parts")
    func fullTableOfLocks() async throws {
        let server = try PostgresServer(settings: ["max_connections = 30", "max_locks_per_transaction = 10"])
        let url = try server.newDatabase()
        let store = try openStore(url)
        var sessions: [Session] = []
        for number in 0..<200 { sessions.append(try await givenSession(store, "user-\(number)")) }
        let hog = try connect(url)
        func run(_ text: String) throws(DatabaseError) {
            _ = try hog.run([Statement(text)], commits: false, until: ContinuousClock.now + .seconds(50))
        }
        #expect(throws: DatabaseError.self) {
            try run("SELECT count(pg_advisory_lock_shared(7, i)) FROM generate_series(1, 1000000) AS i")
        }
        try run("SELECT count(pg_advisory_unlock_shared(7, i)) FROM generate_series(1, 100) AS i")
        try await withThrowingTaskGroup(of: Void.self) { group in
            for session in sessions {
                group.addTask {
                    let done: Void? = try await store.updateSession(session.id) { $0.session.child += 1 }
                    #expect(done != nil)
                }
            }
            try await group.waitForAll()
        }
        for session in sessions { #expect(try await store.session(session.id)?.session.child == session.child + 1) }
        await store.close()
    }
}
