import Cryptography
import Glibc
import SQLiteStore
import Sessions

/// Fills a database through the store's own calls, as many at a time as share a commit well.
struct SessionFiller {
    /// Sessions of one user: two phones, a tablet, one more app.
    static let sessionsPerUser = 4
    private static let width = 512

    let store: SQLiteStore

    /// The store in the file at `path`.
    static func open(_ path: String) throws -> SQLiteStore {
        try SQLiteStore(path: path, options: .init(clock: WallClock { now }))
    }

    /// The present.
    static var now: Instant { Instant(secondsSinceEpoch: Int64(time(nil))) }

    /// Adds `count` users; returns their ids.
    func addUsers(_ count: Int) async throws -> [Identifier<User>] {
        try await inParallel(count) { number in
            let id = Identifier<User>(random: .system)
            let username = "user-\(Hex.encode(Array(id.bytes.prefix(6))))-\(number)"
            let profile = User.Profile(email: "\(username)@example.org")
            let user = User(id: id, username: username, profile: profile, createdAt: Self.now)
            guard try await store.insertUser(user, events: []) else { throw Failure("\(username) exists already") }
            return id
        }
    }

    /// Adds `count` sessions, some for each user in turn; returns their ids.
    func addSessions(_ count: Int, of users: [Identifier<User>]) async throws -> [Identifier<Session>] {
        try await inParallel(count) { number in
            let (id, userID) = (Identifier<Session>(random: .system), users[number % users.count])
            let device = Device(
                id: Hex.encode(randomBytes(count: 16)), name: "Pixel 9", platform: "android", appVersion: "4.12.0")
            let found: Void? = try await store.openSession(
                userID: userID, clientID: Client.mobileID, deviceID: device.id
            ) { opening in
                opening.session = Session(
                    id: id, userID: userID, clientID: Client.mobileID, device: device, authenticationMethods: ["pwd"],
                    startedAt: Self.now, epoch: opening.settings.epoch)
            }
            guard found != nil else { throw Failure("the user of a session is gone") }
            return id
        }
    }

    /// Runs `body` for every number below `count`, some hundred at a time, and collects what comes back in any order.
    private func inParallel<Value: Sendable>(
        _ count: Int, _ body: @escaping @Sendable (Int) async throws -> Value
    ) async throws -> [Value] {
        try await withThrowingTaskGroup(of: [Value].self) { group in
            let width = Self.width
            for first in 0..<min(width, count) {
                group.addTask {
                    var values: [Value] = []
                    for number in stride(from: first, to: count, by: width) { values.append(try await body(number)) }
                    return values
                }
            }
            var all: [Value] = []
            for try await values in group { all += values }
            return all
        }
    }
}
