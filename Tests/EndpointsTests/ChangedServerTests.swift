import Cryptography
import HTTP
import Sessions
import Testing

/// What happens to stored hashes and single tokens when the server that reads them is configured otherwise.
@Suite struct ChangedServerTests {
    private func tokens(
        _ stage: Stage, logN: Int = 4, issuer: String = Stage.issuer
    ) throws -> TokenService {
        let old = stage.context
        return TokenService(
            ServiceContext(
                store: old.store, policy: old.policy, rootKeys: stage.rootKeys, signingKeys: old.signingKeys,
                passwords: PasswordHasher(scrypt: try #require(Scrypt(logN: logN, r: 8, p: 1))), clock: old.clock,
                issuer: issuer, audience: issuer))
    }

    @Test func raisedCost_refusesNoneOfTheLoginsThatCome_atOnce() async throws {
        try await Stage.with { stage in
            let tokens = try tokens(stage, logN: 6)
            try await withThrowingTaskGroup { group in
                for index in 0..<8 {
                    group.addTask {
                        try await tokens.login(
                            LoginRequest(clientID: Client.mobileID, device: Device(id: "phone-\(index)")),
                            username: "anna", password: Stage.password, from: .system)
                    }
                }
                for try await grant in group { #expect(grant.refreshToken != nil) }
            }
        }
    }

    @Test func anotherAddress_logsNobodyOut_whoKeepsOneString() async throws {
        try await Stage.with { stage in
            _ = try await stage.makeClient(#"{"client_id":"one","token_style":"single"}"#)
            let (kept, ended) = (
                try await stage.logIn(device: "a", client: "one"), try await stage.logIn(device: "b", client: "one")
            )
            let moved = try tokens(stage, issuer: "https://new.example")
            _ = try await moved.refresh(RefreshRequest(token: kept.access, clientID: nil), from: .system)
            try await moved.logOut(ended.access, from: .system)
            await #expect(throws: ServiceError.self) { try await moved.authenticate(kept.access, from: .system) }
        }
    }
}
