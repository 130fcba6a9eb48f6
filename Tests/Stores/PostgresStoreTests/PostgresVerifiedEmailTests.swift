import Cryptography
import PostgresFixture
import Sessions
import Testing

@testable import PostgresStore

/// Verified addresses, also in rows that were changed by hand, and what finding them costs.
@Suite("PostgreSQL: verified addresses", .timeLimit(.minutes(1)))
struct PostgresVerifiedEmailTests {
    private static let start = Instant(secondsSinceEpoch: 1_800_000_000)

    private static func schema(_ url: String) throws -> String {
        try #require(url.split(separator: "%3D").last.map(String.init))
    }

    private static func givenAnna(_ store: PostgresStore) async throws -> User {
        var anna = User(id: Identifier(random: .system), username: "anna", createdAt: start)
        anna.profile.email = "anna@example.org"
        anna.profile.isEmailVerified = true
        try #require(try await store.insertUser(anna, from: .admin, events: []))
        return anna
    }

    /// Whether a proof of that address links to a user that is there.
    private static func isLinked(_ email: String, key: String? = nil, _ store: PostgresStore) async throws -> Bool {
        let login = IdentityLogin(
            try #require(Identity.Key(provider: "acme", subject: "1")),
            token: OneTimeToken(.identityToken, of: "", id: email, goodUntil: start + .seconds(9), at: start),
            linkingKey: key ?? Text.emailKey(email),
            newUsers: [User(id: Identifier(random: .system), username: "new", createdAt: start)], at: start)
        let arrival = try await store.openSession(by: login, clientID: Client.mobileID, deviceID: "d") { $0.arrival }
        return arrival == .linked
    }

    @Test("an address that was changed by hand is not verified, nor is the one that it replaced")
    func changedByHand() async throws {
        let url = try PostgresServer.shared.newDatabase()
        let schema = try Self.schema(url)
        let store = try openStore(url)
        let anna = try await Self.givenAnna(store)
        #expect(try await Self.isLinked("anna@example.org", store))
        // Without a change of the key.
        func write(_ email: String) throws {
            try PostgresServer.shared.run(
                "UPDATE users SET username_key = 'anna', email = '\(email)', revision = revision + 1", schema: schema)
        }
        try write("eve@example.org")
        #expect(try await store.user(.id(anna.id))?.profile.isEmailVerified == false)
        for email in ["anna@example.org", "eve@example.org"] {
            #expect(try await !Self.isLinked(email, store), "\(email)")
        }
        // The next change by a node removes the key that no longer fits, whatever it changes.
        _ = try await store.updateUser(.id(anna.id)) { $0.user.profile.country = "DE" }
        try write("anna@example.org")
        #expect(try await store.user(.id(anna.id))?.profile.isEmailVerified == false)
        #expect(try await !Self.isLinked("anna@example.org", store))
        await store.close()
    }

    /// Letters beyond ASCII, of which several addresses could have one key.
    @Test("a key of an address that has none links no user")
    func keysOfOtherLetters() async throws {
        let url = try PostgresServer.shared.newDatabase()
        let schema = try Self.schema(url)
        let store = try openStore(url)
        let anna = try await Self.givenAnna(store)
        for (email, key) in [("\u{3F4}@x", "\u{3B8}@x"), ("zoe\u{308}@x", "zo\u{EB}@x"), ("\u{130}@x", "i\u{307}@x")] {
            try PostgresServer.shared.run(
                "UPDATE users SET email = '\(email)', verified_email_key = '\(key)', revision = revision + 1",
                schema: schema)
            let profile = try #require(try await store.user(.id(anna.id))).profile
            #expect(profile.verifiedEmailKey == key && !profile.isEmailVerified)
            for proven in [email, key] {
                let isLinked = try await Self.isLinked(proven, key: proven, store)
                #expect(!isLinked, "\(proven)")
            }
        }
        await store.close()
    }

    /// How a statement with those parameters finds its rows in a new database.
    private static func plan(
        _ statement: Statement, _ parameters: [String], _ settings: [String] = []
    ) async throws -> String {
        let url = try PostgresServer.shared.newDatabase()
        await (try openStore(url)).close()
        var text = statement.text
        for (index, parameter) in parameters.enumerated() {
            text = text.replacing("$\(index + 1)", with: parameter)
        }
        let off = (["enable_seqscan"] + settings).map { "SET \($0) = off; " }.joined()
        return try PostgresServer.shared.run("\(off)EXPLAIN \(text)", schema: try schema(url))
    }

    @Test("two indexes find the user of an address")
    func plan() async throws {
        let plan = try await Self.plan(UserSQL.selectMeant(by: "x", "x", limit: 8), ["'x'", "'x'", "8"])
        #expect(plan.contains("Index Scan on users_mailbox"), "\(plan)")
        #expect(plan.contains("Index Scan on users_username_key_key"), "\(plan)")
        #expect(!plan.contains("Seq Scan"), "\(plan)")
    }

    @Test("users with a telephone number are found by its index")
    func planOfPhoneNumbers() async throws {
        let plan = try await Self.plan(
            UserSQL.select(withPhoneNumber: "1", or: "2", limit: 8), ["'1'", "'2'", "8"])
        #expect(plan.contains("users_phone_number") && plan.contains("Index Cond"), "\(plan)")
        #expect(!plan.contains("Seq Scan"), "\(plan)")
    }

    @Test("anonymous users are found by their index")
    func planOfAnonymousUsers() async throws {
        let plan = try await Self.plan(
            UserSQL.selectAnonymous(after: nil, limit: 8), ["'00000000-0000-0000-0000-000000000000'", "8"],
            ["enable_bitmapscan"])
        #expect(plan.contains("Index Scan using users_anonymous") && plan.contains("Index Cond"), "\(plan)")
        #expect(!plan.contains("Sort"), "\(plan)")
    }

    @Test("a change of a user that is not one of the address leaves the index alone")
    func otherChanges() async throws {
        let url = try PostgresServer.shared.newDatabase()
        let schema = try Self.schema(url)
        let store = try openStore(url)
        let anna = try await Self.givenAnna(store)
        for number in 1...8 {
            _ = try await store.updateUser(.id(anna.id)) { change in
                change.user.wrongPasswords = User.WrongPasswords(count: number, lastAt: Self.start)
            }
        }
        await store.close()
        // The counters come when the connections have gone. An update is "hot" if no index has a new entry.
        func count(_ column: String) throws -> String {
            try PostgresServer.shared.run(
                "SELECT \(column) FROM pg_stat_user_tables WHERE relname = 'users' AND schemaname = '\(schema)'")
        }
        while try count("n_tup_upd") != "8\n" { await Task.yield() }
        #expect(try count("n_tup_hot_upd") == "8\n")
    }
}
