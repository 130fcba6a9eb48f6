import Glibc
import SQLiteStore
import Sessions

/// Fills a database with the store's own import.
///
/// The records are added in as many passes as a user has devices, each pass sorted by ID. So every page of an index is
/// written a few times, and not once for each of its entries as with random IDs. The pages are as full as pages that
/// received entries many times.
struct SessionFiller {
    /// The sessions of one user: two phones, a tablet, one more app.
    static let sessionsPerUser = 4
    /// The records per transaction. While one part is written, the next one is prepared.
    private static let partCount = 25_000

    let store: SQLiteStore

    /// Opens the store in the file at `path`.
    static func open(_ path: String) throws -> SQLiteStore {
        try SQLiteStore(path: path, options: .init(clock: WallClock { now }))
    }

    /// The current time.
    static var now: Instant { Instant(secondsSinceEpoch: Int64(time(nil))) }

    /// Adds `count` users and returns their IDs.
    func addUsers(_ count: Int) async throws -> [Identifier<User>] {
        let ids = Self.sortedIDs(of: User.self, count)
        try await inParts(ids.indices) { part in
            let users = part.map { number in
                let username = "user-\(ids[number].description.prefix(12))-\(number)"
                return User(
                    id: ids[number], username: username, profile: User.Profile(email: "\(username)@example.org"),
                    createdAt: Self.now)
            }
            return try await store.importUsers(users)
        }
        return ids
    }

    /// Adds `count` sessions, one for each user in turn, active or ended, and returns their IDs.
    func addSessions(
        _ count: Int, of users: [Identifier<User>], ended: Session.Ending? = nil
    ) async throws -> [Identifier<Session>] {
        var all: [Identifier<Session>] = []
        all.reserveCapacity(count)
        let epoch = try await store.settings().epoch
        while all.count < count {
            let ids = Self.sortedIDs(of: Session.self, min(users.count, count - all.count))
            try await inParts(ids.indices) { part in
                var random = FastRandom()
                let sessions = part.map { Self.session(ids[$0], of: users[$0], epoch, ended, &random) }
                return try await store.importSessions(sessions)
            }
            all += ids
        }
        return all
    }

    /// Deletes tombstones that are old enough, as a step of the server's clean-up does.
    func forgetTombstones(limit: Int) async throws -> SessionSweep {
        let now = Self.now
        return try await store.sweepSessions(
            .ended(by: now + (.zero - RefreshPolicy.tombstoneLifetime)), limit: limit,
            by: RefreshPolicy(absoluteMaximum: .seconds(31_536_000)), at: CleanUpTime(earliest: now, settled: now)
        ) { _ in false }
    }

    private static func session(
        _ id: Identifier<Session>, of userID: Identifier<User>, _ epoch: Int64, _ ending: Session.Ending?,
        _ random: inout FastRandom
    ) -> Session {
        let deviceID = Identifier<Session>(words: (random.next(), random.next())).description
        let device = Device(id: deviceID, name: "Pixel 9", platform: "android", appVersion: "4.12.0")
        var session = Session(
            id: id, userID: userID, clientID: Client.mobileID, device: device, authenticationMethods: ["pwd"],
            startedAt: ending?.at ?? now, epoch: epoch)
        session.ending = ending
        return session
    }

    private static func sortedIDs<Subject>(of: Subject.Type, _ count: Int) -> [Identifier<Subject>] {
        var random = FastRandom()
        return (0..<count).map { _ in Identifier(words: (random.next(), random.next())) }.sorted { $0.words < $1.words }
    }

    /// Runs `add` for one part of `numbers` after the other, two at a time.
    private func inParts(
        _ numbers: Range<Int>, _ add: @escaping @Sendable (Range<Int>) async throws -> [ImportOutcome]
    ) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for first in stride(from: numbers.lowerBound, to: numbers.upperBound, by: Self.partCount) {
                if first >= numbers.lowerBound + 2 * Self.partCount { try await group.next() }
                group.addTask {
                    let outcomes = try await add(first..<min(first + Self.partCount, numbers.upperBound))
                    guard outcomes.allSatisfy({ $0 == .written }) else { throw Failure("a record was there already") }
                }
            }
            try await group.waitForAll()
        }
    }
}
