import SojournClient
import SojournTestKit
import Testing

struct LocalServerExampleTests {
    @Test("an admin ends the session, and the app shows the login")
    func revoked() async throws {
        let server = try await LocalServer.start()
        try await server.createUser("anna", password: "correct horse battery staple")
        let sojourn = Sojourn(
            SojournConfiguration(server: server.url), store: MemoryStore(), keys: SoftwareKeys.temporary(),
            transport: server.transport, clock: SystemClock())
        try await sojourn.signIn(username: "anna", password: "correct horse battery staple")
        try await server.revokeAll("anna")
        await #expect(throws: SojournError.ended(.revokedByAdmin)) {
            try await sojourn.accessToken(.renewed(after: sojourn.accessToken()))
        }
        guard case .ended(.revokedByAdmin, let account, _) = sojourn.state else {
            Issue.record("\(sojourn.state)")
            return
        }
        #expect(account.username == "anna")
    }
}
