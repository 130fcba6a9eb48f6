import Cryptography
import JOSE
import JSON
import Locks
import PostgresFixture
import PostgresStore
import SQLiteStore
import Sessions
import Testing

@testable import Transfer
@testable import sojourn

@Suite("Export and import", .timeLimit(.minutes(5)))
struct TransferTests {
    let folder = StartingFolder()
    let clock = StartingClock()
    let rootKeys: RootKeys

    init() throws { rootKeys = try #require(RootKeys([.random()])) }

    /// Gives `body` the domain on so many new databases.
    func withStages(_ count: Int, _ body: ([TransferFixture]) async throws -> Void) async throws {
        var stores: [SQLiteStore] = []
        var stages: [TransferFixture] = []
        for number in 0..<count {
            let store = try SQLiteStore(
                path: folder.file("db\(number)"), options: SQLiteStore.Options(clock: clock.wall))
            stores.append(store)
            stages.append(try await TransferFixture(store, clock, rootKeys))
        }
        try await body(stages)
        for store in stores { await store.close() }
    }

    /// Users on devices: some refreshed, some logged out, one disabled, one deleted. Returns the refresh tokens that work.
    func fill(_ stage: TransferFixture) async throws -> [String] {
        var tokens: [String] = []
        for number in 0..<12 {
            _ = try await stage.createUser("user-\(number)")
            for device in ["phone", "tablet"] { tokens.append(try await stage.logIn("user-\(number)", device: device)) }
        }
        clock.advance(.seconds(4000))
        for index in stride(from: 0, to: tokens.count, by: 3) {
            tokens[index] = try await #require(stage.refresh(tokens[index]).get().refreshToken)
        }
        for _ in 0..<2 { try await stage.services.logout.logOut(tokens.removeLast(), from: .system) }
        _ = try await stage.store.updateUser(.username("user-10")) { change in
            change.user.disabledByAdmin = User.LoginDisabling(effective: .onExpiry, since: clock.wall.now, note: "n")
        }
        _ = try await stage.store.updateUser(.username("user-9")) { $0.deletes = true }
        return tokens.dropLast(4) + []
    }

    /// Lines without the first one, which has the time.
    func body(_ export: String) -> [Substring] {
        export.split(separator: "\n").dropFirst().filter { !$0.contains("\"admin_key\"") }
    }

    @Test("a database moves there and back, no session ends, and it comes back the same")
    func roundTrip() async throws {
        try await withStages(3) { stages in
            let tokens = try await fill(stages[0])
            #expect(tokens.count == 18)
            let first = try await stages[0].export(to: folder)
            let (importer, refused) = try await stages[1].load(folder)
            #expect(refused.isEmpty && importer.refusedCount == 0)
            #expect(importer.counts[.session] == 24 && importer.counts[.user] == 11)
            let second = try await stages[1].export(to: folder)
            #expect(body(second) == body(first))
            try await stages[2].load(folder)
            clock.advance(.seconds(5000))
            for token in tokens {
                let grant = try await stages[2].refresh(token).get()
                let authenticated = try await stages[2].services.accessTokens.authenticate(
                    grant.accessToken, from: .system)
                #expect(authenticated.record.session.id == grant.session.id)
            }
        }
    }

    @Test("a move from SQLite to PostgreSQL and back ends no session, and the file is the same")
    func throughPostgreSQL() async throws {
        try await withStages(2) { stages in
            var options = PostgresStore.Options(clock: clock.wall)
            options.decisionDeadline = .seconds(3600)
            let store = try PostgresStore(url: try PostgresServer.shared.newDatabase(), options: options)
            let postgres = try await TransferFixture(store, clock, rootKeys)
            var tokens = try await fill(stages[0])
            let user = try #require(try await stages[0].store.user(.username("user-0")))
            let waiting = ForeignToken(
                digest: sha256(Array("foreign".utf8)), userID: user.id, clientID: Client.mobileID,
                device: Device(id: "watch"), startedAt: clock.wall.now, epoch: 2)
            _ = try await stages[0].store.importForeignTokens([waiting])
            let key = try #require(Identity.Key(provider: "acme", subject: "0|ada"))
            #expect(try await stages[0].administration.link(key, to: .id(user.id), by: .system))
            let claims = try UserClaims(["role": .string("teller"), "limits": .object(["eur": .integer(500)])])
            _ = try await stages[0].administration.changeUser(.id(user.id), by: .system) {
                $0.claims = claims
                ($0.profile.givenName, $0.profile.familyName) = ("Ada", "L")
                $0.profile.isEmailVerified = true
                return nil
            }
            let first = try await stages[0].export(to: folder)
            #expect(try await postgres.load(folder).refused.isEmpty)
            let second = try await postgres.export(to: folder)
            #expect(Set(body(second)) == Set(body(first)))
            // They go on there, and the tokens that they get there go on here.
            clock.advance(.seconds(1000))
            for index in tokens.indices {
                tokens[index] = try await #require(postgres.refresh(tokens[index]).get().refreshToken)
            }
            let exchanged = try await postgres.refresh("foreign").get()
            tokens.append(try #require(exchanged.refreshToken))
            _ = try await postgres.export(to: folder)
            #expect(try await stages[1].load(folder).refused.isEmpty)
            #expect(try await stages[1].store.identity(key)?.userID == user.id)
            let moved = try #require(try await stages[1].store.user(.id(user.id)))
            #expect(moved.claims == claims && moved.profile.isEmailVerified)
            #expect(moved.profile.givenName == "Ada" && moved.profile.familyName == "L")
            #expect(try await stages[1].store.user(.username("user-1"))?.profile.isEmailVerified == false)
            clock.advance(.seconds(1000))
            for token in tokens { _ = try await stages[1].refresh(token).get() }
            // The foreign token is spent here, too.
            guard case .failure(.refused(.ended(.refreshTokenReused))) = await stages[1].refresh("foreign") else {
                Issue.record("a spent token was taken again")
                return
            }
            await store.close()
        }
    }

    @Test("an import that was interrupted is run again, and nothing is there twice")
    func interrupted() async throws {
        try await withStages(2) { stages in
            let tokens = try await fill(stages[0])
            let whole = try await stages[0].export(to: folder)
            let length = whole.utf8.count
            for part in [length / 5, length / 2, length * 9 / 10, length - 40] {
                folder.write("part.jsonl", String(decoding: whole.utf8.prefix(part), as: UTF8.self))
                await #expect(throws: TransferError.self) { try await stages[1].load(folder, "part.jsonl") }
            }
            try await stages[1].load(folder)
            let (again, _) = try await stages[1].load(folder)
            #expect(again.keptCount == 39)
            #expect(body(try await stages[1].export(to: folder, "two.jsonl")) == body(whole))
            for token in tokens { _ = try await stages[1].refresh(token).get() }
        }
    }

    @Test("a session that has gone further since is not turned back, and a change at the source comes after")
    func incremental() async throws {
        try await withStages(2) { stages in
            _ = try await stages[0].createUser("ada")
            let early = try await stages[0].logIn("ada", device: "phone")
            let other = try await stages[0].logIn("ada", device: "tablet")
            _ = try await stages[0].export(to: folder, "early.jsonl")
            try await stages[1].load(folder, "early.jsonl")
            clock.advance(.seconds(1000))
            // The first was refreshed here, the second ended there.
            let refreshed = try await #require(stages[1].refresh(early).get().refreshToken)
            try await stages[0].services.logout.logOut(other, from: .system)
            _ = try await stages[0].export(to: folder, "late.jsonl")
            let (importer, refused) = try await stages[1].load(folder, "late.jsonl")
            #expect(refused.isEmpty && importer.keptCount >= 1)
            clock.advance(.seconds(1000))
            _ = try await stages[1].refresh(refreshed).get()
            guard case .failure(.refused(.ended(.loggedOut))) = await stages[1].refresh(other) else {
                Issue.record("an ended session lives")
                return
            }
        }
    }

    @Test("more than one batch comes over, part by part")
    func manyRecords() async throws {
        try await withStages(2) { stages in
            let ids = (0..<2500).map { _ in Identifier<User>(random: .system) }
            let users = ids.enumerated().map { User(id: $1, username: "u\($0)", createdAt: clock.wall.now) }
            _ = try await stages[0].store.importUsers(users)
            _ = try await stages[0].store.importSessions(
                ids.map { id in
                    Session(
                        id: Identifier(random: .system), userID: id, clientID: Client.mobileID,
                        device: Device(id: "d"), startedAt: clock.wall.now, epoch: 2, childRequestKey: .max,
                        childConfirmedAt: clock.wall.now)
                })
            _ = try await stages[0].store.importForeignTokens(
                ids.map { id in
                    ForeignToken(
                        digest: sha256(id.bytes), userID: id, clientID: Client.mobileID, device: Device(id: "e"),
                        scope: Scope("a b"), startedAt: clock.wall.now, epoch: 2)
                })
            let first = try await stages[0].export(to: folder)
            #expect(first.split(separator: "\n").count == 7506)
            let (importer, refused) = try await stages[1].load(folder)
            #expect(refused.isEmpty && importer.counts[.foreignToken] == 2500)
            #expect(body(try await stages[1].export(to: folder, "two.jsonl")) == body(first))
            // What both files lack, too, would be lost.
            let sessions = try await stages[0].store.exportSessions(after: nil, limit: 9)
            #expect(try await stages[1].store.exportSessions(after: nil, limit: 9) == sessions)
        }
    }
}

@Suite("Import: what is wrong with a file", .timeLimit(.minutes(5)))
struct TransferRefusalTests {
    let stage: TransferTests

    init() throws { stage = try TransferTests() }

    /// What an import of those lines refuses.
    func refused(_ lines: String...) async throws -> [String] {
        stage.folder.write("mine.jsonl", lines.joined(separator: "\n"))
        let result = Locked<[String]>([])
        try await stage.withStages(1) { stages in
            let (_, refused) = try await stages[0].load(stage.folder, "mine.jsonl")
            result.withLock { $0 = refused }
        }
        return result.withLock { $0 }
    }

    private static let digest = String(repeating: "ab", count: 32)

    @Test("lines that are wrong are told with their numbers, and the others are taken")
    func wrongLines() async throws {
        let lines = try await refused(
            #"{"type":"user","username":"ada"}"#, "", "[]", #"{"type":"robot"}"#, #"{"username":"eve"}"#,
            #"{"type":"user","username":"eve","passwort":"x"}"#, #"{"type":"user","username":7}"#,
            #"{"type":"user","username":"a\u0007b"}"#,
            #"{"type":"foreign_token","sha256":"00","username":"ada","device_id":"d","started_at":1}"#,
            #"{"type":"foreign_token","sha256":"\#(Self.digest)","username":"bob","device_id":"d","started_at":1}"#,
            #"{"type":"foreign_token","sha256":"\#(Self.digest)","username":"ada","device_id":"d","started_at":1,"client_id":"x"}"#,
            #"{"type":"foreign_token","sha256":"\#(Self.digest)","username":"ADA","device_id":"d","started_at":1}"#,
            #"{"type":"user","username":"eve","claims":{"n":12345678901234567890}}"#,
            #"{"type":"user","username":"eve","given_name":"a\tb"}"#,
            #"{"type":"client","client_id":"x","created_at":1,"epoch":1,"scope_claims":{"a":["sub"]}}"#)
        #expect(
            lines == [
                "line 3: this is not a JSON object",
                "line 4: 'type' must be one of: header, signing_key, admin_key, logo, settings, client, user, "
                    + "identity, passkey, session, login, user_details, totp, recovery_codes, phone_login, "
                    + "provider_check, pin, foreign_token, used_token, revocation, end",
                "line 5: 'type' is missing", "line 6: there is no member 'passwort' here",
                "line 7: 'username' must be a string",
                "line 8: 'username' must not have U+0007",
                "line 9: 'sha256' must be 64 hexadecimal digits, or 43 characters of base64url",
                "line 13: 'claims' must not have a number that cannot be kept exactly: write it as a text",
                "line 14: 'given_name' must have 1 to 256 bytes and no control characters",
                "line 15: 'scope_claims' must not name the claim sub, which tokens have for something else",
                "line 10: there is no user 'bob'", "line 11: there is no client 'x'",
            ])
    }

    @Test("password hashes of other systems are taken, unknown ones are refused with their line")
    func passwordHashes() async throws {
        func user(_ name: String, _ member: String) -> String { #"{"type":"user","username":"\#(name)",\#(member)}"# }
        let secret =
            #"{\"value\":\"g23pczKX3v535mMMYN4b8rWIeFGTb1TJLUgLxOfxHFs=\",\"salt\":\"AAECAwQFBgcICQoLDA0ODw==\"}"#
        func keycloak(_ algorithm: String) -> String {
            #""keycloak_credential":{"type":"password","secretData":"\#(secret)","credentialData":""#
                + #"{\"hashIterations\":2000,\"algorithm\":\"\#(algorithm)\"}"}"#
        }
        let lines = try await refused(
            user("a", #""password_hash":"$2a$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW""#),
            user("b", #""password_hash":"pbkdf2_sha256$1000$seasalt$JgZryXe2Ga8ysg6XbzkLpTdyPQrHqsinbL9BnnhgX4A=""#),
            user("c", keycloak("pbkdf2-sha256")), user("d", #""password_hash":"5f4dcc3b5aa765d61d8327deb882cf99""#),
            user("e", keycloak("argon2")), user("f", #""keycloak_credential":{"secretData":"","credentialData":""}"#))
        #expect(lines.count == 3)
        #expect(lines.first?.hasPrefix("line 4: the password hash is none of: scrypt") == true)
        #expect(lines.dropFirst().first?.hasPrefix("line 5: 'argon2' in 'keycloak_credential' cannot be") == true)
        #expect(lines.last == "line 6: 'keycloak_credential' has no secretData and credentialData of a password")
    }

    @Test("a user without an id is the same user again, and a username has one user")
    func usersWithoutID() async throws {
        let lines = try await refused(
            #"{"type":"user","username":"Ada","email":"a@example.org"}"#,
            #"{"type":"user","username":"ada","email":"b@example.org"}"#,
            #"{"type":"user","username":"ada","user_id":"6F9619FF-8B86-D011-B42D-00CF4FC964FF"}"#)
        #expect(lines == ["line 3: the username 'ada' belongs to another user"])
    }

    @Test(
        "a fault that makes the rest useless stops the import",
        arguments: [
            (#"{"type":"header","format":"sojourn-export","version":2}"#, "up to 1"),
            (#"{"type":"header","format":"other","version":1}"#, "'other' is not a format"),
            (#"{"type":"header","format":"sojourn-export","version":1}"#, "cut off"),
            (#"{"type":"end","user":1}"#, "should hold 1 user"),
            (
                #"{"type":"settings","offline_session_idle":40000000,"offline_session_max_limited":true,"#
                    + #""offline_session_max":50000000,"refresh_after":60,"rotation_interval":10,"epoch":5}"#,
                "impossible here: offline_session_max must not exceed"
            ),
        ])
    func fatal(_ line: String, _ sentence: String) async throws {
        await #expect {
            _ = try await refused(line)
        } throws: { error in
            (error as? TransferError)?.detail.contains(sentence) == true
        }
    }

    @Test("an export is refused under another root key")
    func otherRootKey() async throws {
        let other = try TransferTests()
        try await stage.withStages(1) { stages in _ = try await stages[0].export(to: other.folder) }
        try await other.withStages(1) { stages in
            await #expect {
                try await stages[0].load(other.folder)
            } throws: { error in
                (error as? TransferError)?.detail.contains("line 2: the root key here does not open") == true
            }
            let users = try await stages[0].store.users(matching: nil, after: nil, limit: 1)
            #expect(users.items.isEmpty)
        }
    }

    @Test("the progress names the part that is done, where the size is known")
    func progress() {
        #expect(
            ProgressBar.line(0.5, 300, "users", since: .seconds(3))
                == "[###############---------------] 50 %  300 users, 100 a second")
        #expect(ProgressBar.line(nil, 300, "users", since: .seconds(3)) == "300 users, 100 a second")
    }
}
