import Cryptography
import PostgresFixture
import PostgresStore
import Sessions
import StoreConformance
import Testing

/// Gives `body` a store on an empty database, which other tests may have used before.
func withStore(
    _ edit: (inout PostgresStore.Options) -> Void = { _ in }, _ body: (PostgresStore) async throws -> Void
) async throws {
    try await withPreparedDatabase { url in
        let store = try openStore(url, edit)
        try await body(store)
        await store.close()
    }
}

/// Gives `body` the URL of an empty database with the tables of a store, which other tests may have used before.
func withPreparedDatabase(_ body: (_ url: String) async throws -> Void) async throws {
    try await PostgresServer.shared.withPreparedDatabase({ await (try openStore($0)).close() }, body)
}

/// Opens a database, with options edited by `edit`.
func openStore(_ url: String, _ edit: (inout PostgresStore.Options) -> Void = { _ in }) throws -> PostgresStore {
    var options = PostgresStore.Options(clock: WallClock { Instant(secondsSinceEpoch: 1_800_000_000) })
    // Not a test of the deadline, unless it sets one: a busy machine may take long.
    options.decisionDeadline = .seconds(3600)
    edit(&options)
    return try PostgresStore(url: url, options: options)
}

/// A user of that name, signed in on a phone since the clock of the stores began.
func givenSession(_ store: PostgresStore, _ username: String = "anna") async throws -> Session {
    let start = Instant(secondsSinceEpoch: 1_800_000_000)
    let user = User(id: Identifier(random: .system), username: username, createdAt: start)
    #expect(try await store.insertUser(user, from: .admin, events: []))
    let session = Session(
        id: Identifier(random: .system), userID: user.id, clientID: Client.mobileID, device: Device(id: "phone"),
        startedAt: start, epoch: 1)
    let opened: Void? = try await store.openSession(
        userID: user.id, clientID: Client.mobileID, deviceID: "phone"
    ) { $0.session = session }
    #expect(opened != nil)
    return session
}

@Suite struct PostgresConformanceTests {
    @Test(arguments: storeRules) func postgresKeeps(_ rule: StoreRule) async throws {
        try await withStore { try await rule.check($0) }
    }
}
