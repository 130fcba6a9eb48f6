import Sessions
import Testing

@testable import Transfer
@testable import sojourn

/// The sources of names, addresses and passwords move with their users.
@Suite("Export and import: sources of accounts", .timeLimit(.minutes(5)))
struct TransferSourcesTests {
    private let transfer: TransferTests

    init() throws { transfer = try TransferTests() }

    @Test("every source moves, in both kinds of databases")
    func roundTrip() async throws {
        try await transfer.withRoute { first, postgres, last in
            var written: [UserSources] = []
            for source in AccountSource.allCases {
                let user = try await first.administration.createUser(
                    username: source.rawValue, password: TransferFixture.password,
                    profile: .init(email: "a@example.org"), offlineSessionMax: nil, from: source, by: .system)
                written.append(UserSources(of: user, from: source))
            }
            let end = Instant(secondsSinceEpoch: 1_800_000_000)
            _ = try await first.store.updateUser(.id(written[0].userID)) { $0.ending = .init(.revokedByAdmin, at: end) }
            written[0].devicesUnknownAt = end
            for (source, target) in [(first, postgres), (postgres, last)] {
                try await transfer.move(from: source, to: target)
                for sources in written {
                    #expect(try await target.store.userSources(of: sources.userID) == sources)
                }
            }
        }
    }

    @Test("a line without sources comes from the import, and one that names some from those; a wrong word is refused")
    func lines() async throws {
        try await transfer.withRoute { first, _, _ in
            transfer.folder.write(
                "mine.jsonl",
                #"""
                {"type":"user","username":"ada","email":"ada@example.org"}
                {"type":"user","username":"bert","email":"bert@example.org","username_source":"user","password_source":"user"}
                {"type":"user","username":"cleo","access_source":"someone"}
                {"type":"user","username":"dora","email":"dora@localhost"}
                {"type":"user","username":"\uFF25mil"}
                {"type":"user","username":"fred "}
                """#)
            let (_, refused) = try await first.load(transfer.folder, "mine.jsonl")
            #expect(refused.count == 4 && refused[0].contains("access_source"), "\(refused)")
            #expect(refused[1].contains("'email' must be a mailbox such as anna@example.com"))
            #expect(refused[2].contains("'username' would be stored as 'Emil'"))
            #expect(refused[3].contains("'username' must have no blanks"))
            let ada = try #require(try await first.user("ada"))
            #expect(try await first.store.userSources(of: ada.id) == UserSources(of: ada, from: .import))
            #expect(ada.id.description.hasPrefix("000"))
            let bert = try #require(try await first.user("bert"))
            var sources = UserSources(of: bert, from: .import)
            sources.username = .user
            #expect(try await first.store.userSources(of: bert.id) == sources)
            #expect(try await first.user("cleo") == nil)
        }
    }
}
