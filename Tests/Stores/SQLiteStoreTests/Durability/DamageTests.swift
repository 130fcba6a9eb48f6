import Cryptography
import FoundationEssentials
import Locks
import Sessions
import StoreConformance
import Testing

@testable import SQLiteStore

/// Bytes of the file have changed. Where SQLite or the store can see it, nothing is acknowledged or read any more; no
/// change of bytes ends the process.
@Suite(.timeLimit(.minutes(5))) struct DamageTests {
    /// A sound database with more pages than one for each table and index, and what is in it.
    struct World {
        let folder: TemporaryFolder
        var users: [User] = []
        var sessions: [Session] = []
        let content: Data

        init(_ folder: TemporaryFolder) async throws {
            self.folder = folder
            let store = try folder.open()
            for number in 0..<40 {
                let user = Example.user("user-\(number)")
                _ = try await store.insertUser(
                    user, from: .admin, events: [AuditEvent(.userCreated, at: Example.start, by: .system)])
                users.append(user)
                for device in 0..<6 {
                    let session = Example.session(of: user.id, device: "device-\(device)")
                    try await store.openSession(
                        userID: user.id, clientID: "web", deviceID: session.device.id
                    ) { $0.session = session }
                    sessions.append(session)
                }
            }
            try await store.updateClient("web") {
                $0.client = Client(id: "web", createdAt: Example.start, epoch: 1)
            }
            await store.close()
            content = try Data(contentsOf: URL(filePath: folder.database))
        }

        /// Puts the database back, with bytes changed by `change`.
        func damage(_ change: (inout Data) -> Void) throws {
            var content = content
            change(&content)
            for ending in ["-wal", "-shm"] where FileManager.default.fileExists(atPath: folder.database + ending) {
                try FileManager.default.removeItem(atPath: folder.database + ending)
            }
            try content.write(to: URL(filePath: folder.database))
        }

        /// Asks for everything, and changes every session. Returns how many answers were right, and how many refused.
        func use(_ store: SQLiteStore) async -> (right: Int, refused: Int, wrong: [String]) {
            var (right, refused, wrong) = (0, 0, [String]())
            func note(_ isRight: Bool, _ what: String) { if isRight { right += 1 } else { wrong.append(what) } }
            for session in sessions {
                do throws(StoreError) {
                    let stored = try await store.session(session.id)?.session
                    note(stored == session, "session: \(stored.map { "\($0)" } ?? "none")")
                    let child = try await store.updateSession(session.id) { change -> UInt64 in
                        change.session.child += 1
                        return change.session.child
                    }
                    note(child == 2, "child: \(child ?? 0)")
                } catch { refused += 1 }
            }
            for user in users {
                do throws(StoreError) {
                    note(try await store.user(.id(user.id)) == user, "user")
                    note(try await store.user(.username(user.username)) == user, "user by name")
                    let page = try await store.sessions(of: user.id, after: nil, limit: 100)
                    note(page.items.count == 6, "\(page.items.count) sessions of a user")
                } catch { refused += 1 }
            }
            do throws(StoreError) {
                let users = try await store.users(matching: nil, after: nil, limit: 100)
                note(users.items.count == 40, "users")
                let events = try await store.events(after: 0, limit: 100, userID: nil, sessionID: nil)
                note(events.count == 40, "events")
            } catch { refused += 1 }
            return (right, refused, wrong)
        }
    }

    /// The kinds of page that hold rows or keys, by their first byte.
    private static let pageKinds: [UInt8] = [2, 5, 10, 13]

    @Test func aPageThatIsNoneIsNeverTakenForAnEmptyOne() async throws {
        try await TemporaryFolder.with { folder in
            let world = try await World(folder)
            var noticed = 0
            for page in 1..<(world.content.count / 4096) where Self.pageKinds.contains(world.content[page * 4096]) {
                try world.damage { $0[page * 4096] = 0 }
                let said = Locked<[String]>([])
                let store: SQLiteStore
                do throws(OpenError) {
                    store = try await Self.open(folder) { sentence in said.withLock { $0.append(sentence) } }
                } catch {
                    guard case .damaged = error else { throw error }
                    #expect(error.description.contains("newest backup"))
                    noticed += 1
                    continue
                }
                let (_, refused, wrong) = await world.use(store)
                #expect(wrong == [], "page \(page + 1)")
                if refused > 0 {
                    noticed += 1
                    #expect(said.withLock { $0 }.contains { $0.contains("the database is damaged") })
                    // For good, whatever is asked: readiness too.
                    await Self.expectCorrupted { () async throws(StoreError) in try await store.ping() }
                    await Self.expectCorrupted { () async throws(StoreError) in
                        _ = try await store.user(.id(world.users[0].id))
                    }
                }
                #expect(try await !store.diagnostics().problems.isEmpty, "page \(page + 1)")
                await store.close()
            }
            #expect(noticed > 10)
        }
    }

    /// What SQLite believes: the keys of an index lead to rows in another order than they should.
    @Test func anIndexThatLeadsToAnotherRowShowsNoOtherUsersSession() async throws {
        try await TemporaryFolder.with { folder in
            let world = try await World(folder)
            // An entry of the index of ids is the id and the number of its row, which fits into a byte here.
            let places = try world.sessions[3...4].map {
                try #require(Self.placeInIndex(of: Data($0.id.bytes), in: world.content)) + 16
            }
            #expect(places.map { world.content[$0] } == [4, 5])
            try world.damage { $0.swapAt(places[0], places[1]) }
            let store = try await Self.open(folder) { _ in }
            for session in world.sessions[3...4] {
                await Self.expectCorrupted { () async throws(StoreError) in _ = try await store.session(session.id) }
            }
            #expect(try await !store.diagnostics().problems.isEmpty)
            await store.close()
        }
    }

    @Test(arguments: 1...6 as ClosedRange<UInt64>) func noDamageEndsTheProcess(seed: UInt64) async throws {
        try await TemporaryFolder.with { folder in
            let world = try await World(folder)
            var random = SeededGenerator(seed: seed)
            var noticed = 0
            // Most tables are empty here, and a page without rows has next to nothing that can be damaged.
            let pages = (0..<(world.content.count / 4096)).filter { page in
                world.content[page * 4096..<(page + 1) * 4096].count { $0 != 0 } > 100
            }
            for _ in 0..<20 {
                let page = try #require(pages.randomElement(using: &random))
                try world.damage { content in
                    for _ in 0..<Int.random(in: 1...40, using: &random) {
                        let place = page * 4096 + Int.random(in: 0..<4096, using: &random)
                        content[place] = UInt8.random(in: 0...255, using: &random)
                    }
                }
                do throws(OpenError) {
                    let store = try await Self.open(folder) { _ in }
                    let outcome = await world.use(store)
                    let isSound = (try? await store.diagnostics().problems.isEmpty) ?? false
                    if outcome.refused > 0 || !isSound { noticed += 1 }
                    await store.close()
                } catch { noticed += 1 }
            }
            // One that is noticed shows that the damage reaches the store.
            #expect(noticed > 0, "seed \(seed)")
        }
    }

    @Test func aHeaderThatIsDamagedIsSaidToBe() async throws {
        try await TemporaryFolder.with { folder in
            let world = try await World(folder)
            try world.damage { $0[3] = 0 }
            let error = #expect(throws: OpenError.self) { try folder.open() }
            #expect(error == .notADatabase(path: folder.database))
            #expect(error?.description.contains("newest backup") == true)
            // The number of the schema's format.
            try world.damage { $0[47] = 99 }
            #expect(throws: OpenError.self) { try folder.open() }
        }
    }

    /// Where the index of session ids has `id`: of its two occurrences the one in an index page.
    private static func placeInIndex(of id: Data, in content: Data) -> Int? {
        var from = content.startIndex
        while let found = content[from...].firstRange(of: id) {
            if [2, 10].contains(content[found.lowerBound / 4096 * 4096]) { return found.lowerBound }
            from = found.upperBound
        }
        return nil
    }

    private static func open(
        _ folder: TemporaryFolder, _ failed: @escaping @Sendable (String) -> Void
    ) async throws(OpenError) -> SQLiteStore {
        var options = SQLiteStore.Options(clock: WallClock { Example.start })
        options.decisionDeadline = .seconds(3600)
        options.observer = Observer(failed: failed)
        // Not a test of durability.
        options.synchronous = .off
        return try SQLiteStore(path: folder.database, options: options)
    }

    private static func expectCorrupted(
        _ location: SourceLocation = #_sourceLocation, _ call: () async throws(StoreError) -> Void
    ) async {
        do throws(StoreError) {
            try await call()
            Issue.record("nothing thrown", sourceLocation: location)
        } catch {
            guard case .corrupted = error else {
                Issue.record(error, sourceLocation: location)
                return
            }
        }
    }
}
