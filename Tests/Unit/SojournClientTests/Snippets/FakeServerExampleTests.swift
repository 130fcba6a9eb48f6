import SojournClient
import SojournTestKit
import Testing

struct FakeServerExampleTests {
    @Test("an app renews after an hour, and learns that an admin has ended the session")
    func days() async throws {
        let server = FakeServer()
        try await server.createUser("anna", password: "correct horse battery staple")
        let sojourn = Sojourn(
            SojournConfiguration(server: server.url), store: MemoryStore(), keys: SoftwareKeys.temporary(),
            transport: server.transport, clock: server.clock)
        try await sojourn.signIn(username: "anna", password: "correct horse battery staple")
        let first = try await sojourn.accessToken()

        server.clock.advance(by: .seconds(3601))
        let second = try await sojourn.accessToken(.fresh)
        #expect(second != first)

        try await server.revokeAll("anna")
        server.clock.advance(by: .seconds(3601))
        await #expect(throws: SojournError.ended(.revokedByAdmin)) { try await sojourn.accessToken(.fresh) }
    }
}
