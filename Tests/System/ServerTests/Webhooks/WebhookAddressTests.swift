import Cryptography
import JSON
import PostgresFixture
import PostgresStore
import Sessions
import Testing

@testable import Deliveries

/// The address in a message about an event, while the user changes it.
@Suite("Webhook: the address on PostgreSQL", .timeLimit(.minutes(1)))
struct WebhookAddressTests {
    private static let now = Instant(secondsSinceEpoch: 1_800_000_000)

    @Test("a mail about an event does not go to a later address, also while readers of the trail wait for another node")
    func laterAddress() async throws {
        let url = try PostgresServer.shared.newDatabase()
        var options = PostgresStore.Options(clock: WallClock { Self.now })
        options.decisionDeadline = .seconds(60)
        let store = try PostgresStore(url: url, options: options)
        let other = try PostgresStore(url: url, options: options)
        let user = User(
            id: Identifier(random: .system), username: "anna", profile: User.Profile(email: "anna@example.org"),
            createdAt: Self.now)
        let event = AuditEvent(.passkeyAdded, at: Self.now, by: .system, userID: user.id)
        #expect(try await store.insertUser(user, from: .admin, events: [event]))
        let recorded = try #require(try await store.events(before: nil, limit: 1).first)
        try await other.whileUncommitted(event) {
            _ = try await store.updateUser(.id(user.id)) { change in
                change.user.profile.email = "thief@example.net"
                change.events = [
                    AuditEvent(
                        .emailChanged, at: Self.now, by: .system, userID: user.id,
                        reason: "anna@example.org>thief@example.net")
                ]
            }
            #expect(try await store.events(after: recorded.id, limit: 9, userID: user.id, sessionID: nil).isEmpty)
            let message = try await WebhookMessage(recorded, from: store)
            let told = try #require(JSONValue(text: WebhookMessage.encode(message))?["data"]?["user"])
            #expect(told["email"]?.string == "anna@example.org")
            #expect(told["email_verified"] == nil)
        }
        for store in [store, other] { await store.close() }
    }
}
