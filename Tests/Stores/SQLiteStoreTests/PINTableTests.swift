import Cryptography
import Sessions
import StoreConformance
import Testing

@testable import SQLiteStore

@Suite("SQLite: the table of PINs", .timeLimit(.minutes(1)))
struct PINTableTests {
    @Test("No statement of a refresh names it: without the table sessions go on, and end by a refresh")
    func refreshes() async throws {
        try await TemporaryFolder.with { folder in
            let store = try folder.open()
            let user = User(id: Identifier(random: .system), username: "anna", createdAt: Example.start)
            #expect(try await store.insertUser(user, from: .admin, events: []))
            let session = Session(
                id: Identifier(random: .system), userID: user.id, clientID: Client.mobileID,
                device: Device(id: "phone"), startedAt: Example.start, epoch: 1)
            let opened: Void? = try await store.openSession(
                userID: user.id, clientID: Client.mobileID, deviceID: "phone"
            ) { $0.session = session }
            #expect(opened != nil)
            try Connection(path: folder.database, access: .readWrite, cacheKibibytes: 100).run("DROP TABLE pins")

            #expect(try await store.refreshToTheEnd(session.id))
            await #expect(throws: StoreError.self) { _ = try await store.pin(of: session.id) }
            await store.close()
        }
    }
}
