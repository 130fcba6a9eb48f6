import Cryptography
import Locks
import Sessions
import Testing

@testable import Transfer
@testable import sojourn

/// What has gone further in a database since an import is not turned back by the next one.
@Suite("Export and import: once more", .timeLimit(.minutes(5)))
struct TransferRepeatTests {
    private let transfer: TransferTests
    init() throws { transfer = try TransferTests() }

    private static let foreign = "a token of another system"

    /// A change here, by which something does not hold any more that the file says.
    struct Change: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let make: @Sendable (TransferFixture) async throws -> Void
        let holds: @Sendable (TransferFixture) async throws -> Bool

        init(
            _ name: String, _ make: @escaping @Sendable (TransferFixture) async throws -> Void,
            _ holds: @escaping @Sendable (TransferFixture) async throws -> Bool
        ) {
            (testDescription, self.make, self.holds) = (name, make, holds)
        }
    }

    private static func edit(_ edit: @escaping @Sendable (inout User) -> Void)
        -> @Sendable (TransferFixture) async throws
        -> Void
    { { stage in _ = try await stage.store.updateUser(.username("bob")) { edit(&$0.user) } } }

    private static func user(_ holds: @escaping @Sendable (User) -> Bool)
        -> @Sendable (TransferFixture) async throws
        -> Bool
    { { stage in holds(try #require(try await stage.store.user(.username("bob")))) } }

    private static let isForeignGone: @Sendable (TransferFixture) async throws -> Bool = { stage in
        try await stage.store.foreignTokens(after: nil, limit: 9).isEmpty
    }

    static let changes = [
        Change(
            "logins are off",
            { stage in
                _ = try await stage.administration.disable(
                    .username("bob"), effective: .immediate, revokingSessions: false, note: nil, by: .system)
            }, user { $0.disabledByAdmin?.effective == .immediate }),
        Change(
            "logins are on again",
            { stage in
                _ = try await stage.administration.enable(.username("eve"), includingOwnSwitch: false, by: .system)
            }, { stage in try await stage.store.user(.username("eve"))?.loginRefusal == nil }),
        Change("another password", edit { $0.passwordHash = nil }, user { $0.passwordHash == nil }),
        Change(
            "a lock",
            edit { user in
                user.wrongPasswords = User.WrongPasswords(
                    count: 20, lastAt: user.createdAt, lockedUntil: user.createdAt)
            }, user { $0.wrongPasswords?.count == 20 }),
        Change(
            "another maximum", edit { $0.offlineSessionMax = .seconds(5000) },
            user {
                $0.offlineSessionMax == .seconds(5000)
            }),
        Change(
            "a user is deleted",
            { stage in
                _ = try await stage.administration.deleteUser(.username("bob"), by: .system)
            }, { stage in try await stage.store.user(.username("bob")) == nil }),
        Change(
            "a signing key is withdrawn",
            { stage in
                let key = try #require(stage.administration.signingKeys().first)
                try await stage.administration.withdrawSigningKey(key.id, by: .system)
            },
            { stage in
                try await stage.signingKeyEvents(.signingKeyWithdrawn).isDisjoint(
                    with: Set(stage.administration.signingKeys().map(\.id)))
            }),
        Change(
            "an admin key is deleted",
            { stage in
                let keys = try await stage.administration.adminKeys()
                try await stage.administration.deleteAdminKey(
                    try #require(keys.first { $0.name == "laptop" }).id, by: .system)
            }, { stage in try await !stage.administration.adminKeys().contains { $0.name == "laptop" } }),
        Change(
            "another lifetime",
            { stage in
                _ = try await stage.administration.changeSettings(by: .system) {
                    $0.offlineSessionMax = .seconds(8_640_000)
                }
            }, { stage in try await stage.store.settings().sessions.offlineSessionMax == .seconds(8_640_000) }),
        Change(
            "another secret of a client",
            { stage in
                _ = try await stage.administration.changeClient("web", newSecret: true, by: .system) {
                    $0.name = "changed"
                    return nil
                }
            }, { stage in try await stage.store.client("web")?.name == "changed" }),
        Change(
            "a client is deleted",
            { stage in
                try await stage.administration.deleteClient("web", by: .system)
            }, { stage in try await stage.store.client("web") == nil }),
        Change(
            "an identity is unlinked",
            { stage in
                let key = try #require(Identity.Key(provider: "acme", subject: "0|bob"))
                _ = try await stage.administration.unlink(key, from: .username("bob"), by: .system)
            }, { stage in try await stage.store.identities(after: nil, limit: 9).isEmpty }),
        Change(
            "a token that waits is logged out",
            { stage in
                try await stage.services.logout.logOut(foreign, from: .system)
            }, isForeignGone),
        Change(
            "the sessions of its user are ended",
            { stage in
                _ = try await stage.administration.revokeSessions(of: .username("bob"), by: .system)
            }, isForeignGone),
        Change(
            "a token was used, and is forgotten",
            { stage in
                _ = try await stage.refresh(foreign).get()
                try await stage.store.updateForeignToken(sha256(Array(foreign.utf8))) { $0.token = nil }
            }, isForeignGone),
        Change(
            "every session is ended",
            { stage in
                try await stage.administration.revokeAllSessions(by: .system)
            }, { stage in if case .failure = await stage.refresh(foreign) { true } else { false } }),
    ]

    private func fill(_ stage: TransferFixture) async throws {
        let admin = stage.administration
        let bob = try await stage.createUser("bob")
        _ = try await stage.createUser("eve")
        _ = try await admin.disable(
            .username("eve"), effective: .immediate, revokingSessions: false, note: nil, by: .system)
        _ = try await stage.logIn("bob", device: "phone")
        _ = try await admin.createClient(id: "web", by: .system) {
            $0.authenticationMethod = .clientSecretBasic
            return nil
        }
        _ = try await admin.createAdminKey(name: "laptop", by: .system)
        let key = try #require(Identity.Key(provider: "acme", subject: "0|bob"))
        #expect(try await admin.link(key, to: .id(bob.id), by: .system))
        let token = ForeignToken(
            digest: sha256(Array(Self.foreign.utf8)), userID: bob.id, clientID: Client.mobileID,
            device: Device(id: "watch"), startedAt: transfer.clock.wall.now, epoch: .max)
        _ = try await stage.store.importForeignTokens([token])
    }

    @Test("an export that is imported again turns nothing back, unless it is to replace", arguments: changes)
    func kept(_ change: Change) async throws {
        try await transfer.withRoute { first, postgres, last in
            try await fill(first)
            _ = try await first.export(to: transfer.folder)
            for target in [postgres, last] {
                #expect(try await target.load(transfer.folder).refused.isEmpty)
                transfer.clock.advance(.seconds(60))
                #expect(try await !change.holds(target))
                transfer.clock.advance(.seconds(60))
                try await change.make(target)
                transfer.clock.advance(.seconds(60))
                let (again, refused) = try await target.load(transfer.folder)
                #expect(refused.isEmpty)
                #expect(try await change.holds(target))
                #expect(again.differingCount > 0 || change.testDescription == "a lock")
                transfer.clock.advance(.seconds(60))
                #expect(try await target.load(transfer.folder, replacing: true).refused.isEmpty)
                #expect(try await !change.holds(target) || change.testDescription == "every session is ended")
            }
        }
    }

    @Test("a change while an import runs is not turned back by it", arguments: changes)
    func running(_ change: Change) async throws {
        try await transfer.withRoute { first, postgres, last in
            try await fill(first)
            let export = try await first.export(to: transfer.folder)
            // Keys, settings and clients come in the second part, and everything else.
            let header = try #require(export.split(separator: "\n").first)
            transfer.folder.write("part1.jsonl", String(header))
            transfer.folder.write("part2.jsonl", String(export.dropFirst(header.count + 1)))
            for target in [postgres, last] {
                try await target.load(transfer.folder)
                transfer.clock.advance(.seconds(60))
                let refused = Locked<[String]>([])
                var importer = target.importer { line in refused.withLock { $0.append(line) } }
                try await importer.begin()
                var part1 = try LineReader(transfer.folder.file("part1.jsonl"))
                try await importer.read(&part1)
                #expect(try await !change.holds(target))
                try await change.make(target)
                var part2 = try LineReader(transfer.folder.file("part2.jsonl"))
                try await importer.read(&part2)
                try await importer.finish()
                #expect(refused.withLock { $0 } == [])
                #expect(try await change.holds(target))
            }
        }
    }

    @Test("lines of what was rightly deleted or renamed here meanwhile are told as otherwise here, and none is refused")
    func leftOut() async throws {
        try await transfer.withRoute { first, postgres, last in
            _ = try await BoundPhones("ada", at: first)
            try await fill(first)
            let waiting = ForeignToken(
                digest: sha256(Array("another".utf8)), userID: try #require(try await first.user("bob")).id,
                clientID: "web", device: Device(id: "watch"), startedAt: transfer.clock.wall.now, epoch: .max)
            _ = try await first.store.importForeignTokens([waiting])
            let export = try await first.export(to: transfer.folder)
            #expect(export.contains(#""type":"provider_check""#))
            transfer.folder.write(
                "tokens.jsonl",
                ["ada", "eve"].map { name in
                    #"{"type":"foreign_token","sha256":"\#(Hex.encode(sha256(Array(name.utf8))))","#
                        + #""username":"\#(name)-of-before","device_id":"d","started_at":1}"#
                }.joined(separator: "\n"))
            transfer.folder.write(
                "users.jsonl",
                ["ada", "eve"].map { #"{"type":"user","username":"\#($0)-of-before"}"# }.joined(separator: "\n"))
            for target in [postgres, last] {
                try await target.load(transfer.folder)
                try await target.load(transfer.folder, "users.jsonl")
                let admin = target.administration
                for name in ["ada", "ada-of-before"] { _ = try await admin.deleteUser(.username(name), by: .system) }
                _ = try await admin.changeUser(.username("eve-of-before"), by: .system) { user in
                    user.username = "lovelace"
                    return nil
                }
                try await admin.deleteClient("web", by: .system)
                // A month later nothing is left of the sessions.
                let later = Instant(secondsSinceEpoch: 4_000_000_000)
                let month = CleanUpTime(earliest: later, settled: later)
                _ = try await target.store.sweepSessions(
                    .ended(by: later), limit: 100, by: target.context.policy, at: month
                ) { _ in false }
                let (again, refused) = try await target.load(transfer.folder)
                #expect(refused.isEmpty)
                // The user, a client, a token, and what the user had: an identity and sessions with a provider's check.
                #expect(again.differingCount >= 6)
                let (tokens, refusedTokens) = try await target.load(transfer.folder, "tokens.jsonl")
                #expect(refusedTokens.isEmpty && tokens.differingCount == 2)
                #expect(try await target.store.foreignTokens(after: nil, limit: 9).count == 2)
                // In an import that replaces there is no user to give them to.
                #expect(try await target.load(transfer.folder, "tokens.jsonl", replacing: true).refused.count == 2)
            }
        }
    }

    @Test("logins disabled and tokens used at the source since are taken over; a new password is not")
    func stricter() async throws {
        try await transfer.withRoute { first, postgres, _ in
            try await fill(first)
            try await transfer.move(from: first, to: postgres)
            transfer.clock.advance(.seconds(60))
            try await Self.changes[0].make(first)
            try await Self.edit { $0.passwordHash = nil }(first)
            let (again, _) = try await { () async throws in
                _ = try await first.export(to: transfer.folder)
                return try await postgres.load(transfer.folder)
            }()
            // The password is told beside what was taken over.
            #expect(again.differingCount == 1)
            let bob = try #require(try await postgres.store.user(.username("bob")))
            #expect(bob.disabledByAdmin?.effective == .immediate && bob.passwordHash != nil)
            try await first.load(transfer.folder)
            #expect(try await postgres.load(transfer.folder).0.differingCount == 1)
        }
    }

    @Test("a lock comes along")
    func locks() async throws {
        try await transfer.withRoute { first, postgres, last in
            _ = try await first.createUser("bob")
            let wrong = User.WrongPasswords(
                count: 20, lastAt: transfer.clock.wall.now, lockedUntil: transfer.clock.wall.now + .seconds(900))
            _ = try await first.store.updateUser(.username("bob")) { $0.user.wrongPasswords = wrong }
            for (source, target) in [(first, postgres), (postgres, last)] {
                try await transfer.move(from: source, to: target)
                #expect(try await target.store.user(.username("bob"))?.wrongPasswords == wrong)
            }
        }
    }

    @Test("keys that come by an import are in the trail, once, and those that a new database had made are told as gone")
    func keys() async throws {
        try await transfer.withRoute { first, postgres, last in
            try await fill(first)
            _ = try await first.export(to: transfer.folder)
            for target in [postgres, last] {
                let own = Set(target.administration.signingKeys().map(\.id))
                for _ in 0..<2 { try await target.load(transfer.folder) }
                let events = try await target.store.events(after: 0, limit: 200, userID: nil, sessionID: nil)
                    .map(\.event).filter { $0.actor == "admin:local" }
                #expect(events.filter { $0.kind == .adminKeyCreated }.map { $0.reason?.count } == [8], "the id alone")
                #expect(
                    Set(events.filter { $0.kind == .signingKeyCreated }.compactMap(\.reason))
                        == Set(first.administration.signingKeys().map(\.id)))
                #expect(Set(events.filter { $0.kind == .signingKeyWithdrawn }.compactMap(\.reason)) == own)
            }
        }
    }

    @Test(
        "a token that waits for a user of the file does not reach another user of that name here",
        arguments: [
            Change(
                "deleted, and the name was given anew",
                { stage in
                    _ = try await stage.administration.deleteUser(.username("ada"), by: .system)
                    _ = try await stage.createUser("ada")
                }, { _ in true }),
            Change(
                "renamed, and the name was given anew",
                { stage in
                    _ = try await stage.administration.changeUser(.username("ada"), by: .system) { user in
                        user.username = "lovelace"
                        return nil
                    }
                    _ = try await stage.createUser("ada")
                }, { _ in true }), Change("nothing", { _ in }, { _ in false }),
        ])
    func namesakes(_ change: Change) async throws {
        try await transfer.withRoute { first, postgres, _ in
            for stage in [first, postgres] {
                let user = #"{"type":"user","username":"ada"}"#
                let hash = Hex.encode(sha256(Array(Self.foreign.utf8)))
                let token =
                    #"{"type":"foreign_token","sha256":"\#(hash)","username":"ADA","device_id":"d","started_at":1}"#
                transfer.folder.write("users.jsonl", user)
                transfer.folder.write("tokens.jsonl", user + "\n" + token)
                try await stage.load(transfer.folder, "users.jsonl")
                transfer.clock.advance(.seconds(60))
                try await change.make(stage)
                let (again, refused) = try await stage.load(transfer.folder, "tokens.jsonl")
                let isLeftOut = try await change.holds(stage)
                #expect(refused.isEmpty && again.differingCount == (isLeftOut ? 2 : 0))
                #expect(try await stage.store.foreignTokens(after: nil, limit: 9).isEmpty == isLeftOut)
            }
        }
    }

    @Test("a token that waits for a user with a name that was taken before the first import is refused with the user")
    func nameThatIsTaken() async throws {
        try await transfer.withStages(1) { stages in
            _ = try await stages[0].createUser("ada")
            let hash = Hex.encode(sha256(Array(Self.foreign.utf8)))
            transfer.folder.write(
                "tokens.jsonl",
                #"{"type":"user","username":"Ada"}"# + "\n"
                    + #"{"type":"foreign_token","sha256":"\#(hash)","username":"ada","device_id":"d","started_at":1}"#)
            let (_, refused) = try await stages[0].load(transfer.folder, "tokens.jsonl")
            #expect(refused.count == 2 && refused.allSatisfy { $0.hasSuffix("belongs to another user") })
            #expect(try await stages[0].store.foreignTokens(after: nil, limit: 9).isEmpty)
        }
    }

    @Test(
        "an export is refused if everything changes between its parts",
        arguments: [
            Change("revoke all", { try await $0.administration.revokeAllSessions(by: .system) }, { _ in true }),
            Change("a client ends", { try await $0.administration.deleteClient("web", by: .system) }, { _ in true }),
            Change(
                "a key",
                {
                    _ = try await $0.administration.rotateSigningKey(immediately: true, by: .system)
                }, { _ in true }),
            Change(
                "an admin key",
                {
                    _ = try await $0.administration.createAdminKey(name: "other", by: .system)
                }, { _ in true }),
            Change("nothing of the kind", { _ = try await $0.logIn("bob", device: "tablet") }, { _ in false }),
        ])
    func oneMoment(_ change: Change) async throws {
        try await transfer.withRoute { first, postgres, _ in
            for stage in [first, postgres] {
                try await fill(stage)
                transfer.clock.advance(.seconds(60))
                var writer = try LineWriter(transfer.folder.file("parts.jsonl"))
                var exporter = Exporter(store: stage.store, now: stage.context.clock.now, progress: ProgressBar.silent)
                let base = try await exporter.begin(program: "test", to: &writer)
                try await change.make(stage)
                if try await change.holds(stage) {
                    await #expect(throws: TransferError.self) { try await exporter.finish(after: base, to: &writer) }
                    #expect(!transfer.folder.exists("parts.jsonl"))
                } else {
                    try await exporter.finish(after: base, to: &writer)
                    #expect(transfer.folder.exists("parts.jsonl"))
                }
            }
        }
    }
}
