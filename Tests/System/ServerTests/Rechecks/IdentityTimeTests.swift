import Sessions
import Testing

@testable import Server
@testable import Federation

/// Goal: the time that passes between two steps of a login opens no way in.
/// Method: as `RecheckTests`; the clock moves between the steps.
@Suite("Logins by ID token, and the time", .timeLimit(.minutes(5))) struct IdentityTimeTests {
    @Test(
        "an ID token that grows too old between its check and the login starts no second session",
        arguments: RecheckDatabase.allCases)
    func tooOldMeanwhile(_ database: RecheckDatabase) async throws {
        try await RecheckFixture.with(database) { stage in
            let token = IdentityToken(provider: "acme", text: stage.provider.idToken())
            let first = try await stage.services.federation.identity(of: token, by: stage.identities, from: .system)
            let request = SessionRequest(clientID: Client.mobileID, device: Device(id: "phone"))
            _ = try await stage.services.federation.logIn(request, as: first, from: .system)
            // In the last second in which it is taken.
            stage.clock.advance(by: (first.goodUntil - stage.clock.wall.now).wholeSeconds - 1)
            let second = try await stage.services.federation.identity(of: token, by: stage.identities, from: .system)
            stage.clock.advance(by: 1)
            await #expect(throws: ServiceError.identityRefused(.tooOld)) {
                _ = try await stage.services.federation.logIn(request, as: second, from: .system)
            }
        }
    }
}
