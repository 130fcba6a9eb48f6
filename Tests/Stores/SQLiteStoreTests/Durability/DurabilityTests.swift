import Cryptography
import FoundationEssentials
import Sessions
import Testing

@testable import SQLiteStore

@Suite struct DurabilityTests {
    @Test func everythingIsThereAfterReopening() async throws {
        try await TemporaryFolder.with { folder in
            let user = Example.user()
            let session = Example.session(of: user.id)
            let client = Client(id: "web", createdAt: Example.start, epoch: 9)
            let first = try folder.open()
            _ = try await first.insertUser(
                user, from: .admin, events: [AuditEvent(.userCreated, at: Example.start, by: .system)])
            try await first.openSession(userID: user.id, clientID: "web", deviceID: "phone") { $0.session = session }
            try await first.updateClient("web") { $0.client = client }
            try await first.updateSettings { $0.settings.sessions.rotationInterval = .seconds(7) }
            await first.close()

            let second = try folder.open()
            let record = try await second.session(session.id)
            #expect(record?.session == session)
            #expect(record?.user == user)
            #expect(record?.client == client)
            #expect(record?.settings.epoch == 9)
            #expect(try await second.settings().sessions.rotationInterval == .seconds(7))
            #expect(try await second.events(after: 0, limit: 9, userID: nil, sessionID: nil).count == 1)
            await second.close()
        }
    }

    /// What a process that was killed leaves behind is the file and the log as they are: a copy of both, taken while
    /// the store is open, must hold every change that was acknowledged.
    @Test func whatIsAcknowledgedIsInFileAndLog() async throws {
        try await TemporaryFolder.with { folder in
            let user = Example.user()
            let session = Example.session(of: user.id)
            let store = try folder.open()
            _ = try await store.insertUser(user, from: .admin, events: [])
            try await store.openSession(userID: user.id, clientID: "web", deviceID: "phone") { $0.session = session }
            for serial in 2...20 as ClosedRange<UInt64> {
                try await store.updateSession(session.id) { $0.session.child = serial }
            }
            let copy = TemporaryFolder(path: folder.path + "/copy")
            try FileManager.default.createDirectory(atPath: copy.path, withIntermediateDirectories: true)
            for ending in ["", "-wal"] {
                try FileManager.default.copyItem(atPath: folder.database + ending, toPath: copy.database + ending)
            }
            let revived = try copy.open()
            #expect(try await revived.session(session.id)?.session.child == 20)
            await revived.close()
            await store.close()
        }
    }

    @Test func aClosedStoreRefusesEverythingAndLeavesNoLog() async throws {
        try await TemporaryFolder.with { folder in
            let store = try folder.open()
            try await store.ping()
            await store.close()
            await store.close()
            await #expect(throws: StoreError.unavailable("the database is closed")) { try await store.ping() }
            await #expect(throws: StoreError.unavailable("the database is closed")) { try await store.settings() }
            await #expect(throws: StoreError.unavailable("the database is closed")) {
                try await store.user(.username("anna"))
            }
            #expect(DatabaseFile.size(folder.database + "-wal") == 0)
        }
    }

    @Test func whatWaitsWhenTheStoreClosesIsAnswered() async throws {
        try await TemporaryFolder.with { folder in
            let store = try folder.open()
            let user = Example.user()
            _ = try await store.insertUser(user, from: .admin, events: [])
            let written = try await withThrowingTaskGroup(of: Bool.self) { group in
                for number in 0..<100 {
                    group.addTask {
                        do throws(StoreError) {
                            let session = Example.session(of: user.id, device: "d\(number)")
                            try await store.openSession(userID: user.id, clientID: "web", deviceID: session.device.id) {
                                $0.session = session
                            }
                            return true
                        } catch {
                            return false
                        }
                    }
                }
                group.addTask {
                    await store.close()
                    return false
                }
                return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
            }
            let reopened = try folder.open()
            let page = try await reopened.sessions(of: user.id, after: nil, limit: 1000)
            #expect(page.items.count == written)
            await reopened.close()
        }
    }

    @Test func theLogIsCopiedBackAndDoesNotGrowForEver() async throws {
        try await TemporaryFolder.with { folder in
            let store = try folder.open { $0.checkpointFrames = 50 }
            let user = Example.user()
            _ = try await store.insertUser(user, from: .admin, events: [])
            let session = Example.session(of: user.id)
            try await store.openSession(userID: user.id, clientID: "web", deviceID: "phone") { $0.session = session }
            for serial in 2...500 as ClosedRange<UInt64> {
                try await store.updateSession(session.id) { $0.session.child = serial }
            }
            #expect(DatabaseFile.size(folder.database + "-wal") < 100 * 4200)
            await store.close()
        }
    }

    /// Trivially true of tokens and keys, which never come here; of passwords, because only their hashes do. What the
    /// file may hold of a reset is the hash of its secret.
    @Test func theFileIsReadableByItsOwnerAlone() async throws {
        try await TemporaryFolder.with { folder in
            let store = try folder.open()
            try await store.ping()
            for ending in ["", "-wal", "-shm", ".lock"] {
                let attributes = try FileManager.default.attributesOfItem(atPath: folder.database + ending)
                #expect(attributes[.posixPermissions] as? Int == 0o600, "\(ending)")
            }
            await store.close()
        }
    }
}

/// Values for tests.
enum Example {
    static let start = Instant(secondsSinceEpoch: 1_800_000_000)

    static func user(_ username: String = "anna") -> User {
        User(id: Identifier(random: .system), username: username, createdAt: start)
    }

    static func session(of user: Identifier<User>, device: String = "phone") -> Session {
        Session(
            id: Identifier(random: .system), userID: user, clientID: "web", device: Device(id: device),
            startedAt: start, epoch: 1)
    }
}
