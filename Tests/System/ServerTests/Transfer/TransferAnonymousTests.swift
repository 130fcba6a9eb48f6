import Sessions
import Testing

@testable import Transfer
@testable import sojourn

/// Anonymous users move with their sessions, and the right of a client to make them moves with the client.
@Suite("Export and import: anonymous users", .timeLimit(.minutes(5)))
struct TransferAnonymousTests {
    private let transfer: TransferTests

    init() throws { transfer = try TransferTests() }

    @Test("an anonymous user moves, goes on, and can be named there")
    func roundTrip() async throws {
        try await transfer.withRoute { first, postgres, last in
            for id in [Client.mobileID, "shop"] {
                if id == "shop" { _ = try await first.administration.createClient(id: id, by: .system) { _ in nil } }
                _ = try await first.administration.changeClient(id, by: .system) { client in
                    client.anonymousUsers = true
                    return nil
                }
            }
            let grant = try await first.services.anonymousUsers.logIn(
                SessionRequest(clientID: Client.mobileID, device: Device(id: "phone")), from: .system)
            let text = try await first.export(to: transfer.folder)
            #expect(text.contains(#""anonymous":true"#) && text.contains(#""anonymous_users":true"#))
            for stage in [postgres, last] {
                #expect(try await stage.load(transfer.folder).refused.isEmpty)
                #expect(try await stage.store.client("shop")?.anonymousUsers == true)
                let user = try #require(try await stage.store.user(.id(grant.user.id)))
                #expect(user.isAnonymous && user.passwordHash == nil)
                let swept = try await stage.store.sweepAnonymousUsers(
                    after: nil, limit: 9, by: stage.context.policy, at: stage.context.clock.now)
                #expect(swept.deleted == 0)
                let renewed = try await stage.refresh(grant.refreshToken ?? "").get()
                let session = try await stage.services.accessTokens.authenticate(renewed.accessToken, from: .system)
                let named = try await stage.services.anonymousUsers.name(
                    session, username: "ada", password: TransferFixture.password, from: .system)
                #expect(named.id == grant.user.id && !named.isAnonymous)
            }
        }
    }

    @Test("an anonymous user with a password is refused")
    func contradiction() async throws {
        try await transfer.withRoute { first, _, _ in
            let hash = try await first.createUser("ada").passwordHash ?? ""
            transfer.folder.write(
                "mine.jsonl",
                #"{"type":"user","username":"bert","anonymous":true,"password_hash":"\#(hash)"}"#)
            let (_, refused) = try await first.load(transfer.folder, "mine.jsonl")
            #expect(refused.count == 1 && refused[0].contains("anonymous"))
        }
    }
}
