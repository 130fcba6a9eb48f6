import Cryptography
import HTTP
import JSON
import Sessions
import Testing

/// What happens to stored hashes and single tokens when the server that reads them is configured otherwise.
@Suite struct ChangedServerTests {
    private func services(
        _ server: EndpointsFixture, logN: Int = 4, issuer: String = EndpointsFixture.issuer
    ) throws -> Services {
        let old = server.context
        return Services(
            ServiceContext(
                store: old.store, policy: old.policy, rootKeys: server.rootKeys, signingKeys: old.signingKeys,
                passwords: PasswordHasher(scrypt: try #require(Scrypt(logN: logN, r: 8, p: 1))), clock: old.clock,
                issuer: issuer, audience: issuer))
    }

    @Test func raisedCost_refusesNoneOfTheLoginsThatCome_atOnce() async throws {
        try await EndpointsFixture.with { server in
            let services = try services(server, logN: 6)
            try await withThrowingTaskGroup { group in
                for index in 0..<8 {
                    group.addTask {
                        try await services.login.logIn(
                            SessionRequest(clientID: Client.mobileID, device: Device(id: "phone-\(index)")),
                            username: "anna", password: EndpointsFixture.password, from: .system)
                    }
                }
                for try await grant in group { #expect(grant.refreshToken != nil) }
            }
        }
    }

    @Test func anotherAddress_endsNoSession_ofAClientThatKeepsOneString() async throws {
        try await EndpointsFixture.with { server in
            _ = try await server.makeClient(#"{"client_id":"one","token_style":"single"}"#)
            let (kept, ended) = (
                try await server.logIn(device: "a", client: "one"), try await server.logIn(device: "b", client: "one")
            )
            let moved = try services(server, issuer: "https://new.example")
            _ = try await moved.refresh.refresh(RefreshAttempt(token: kept.access, clientID: nil), from: .system)
            try await moved.logout.logOut(ended.access, from: .system)
            await #expect(throws: ServiceError.self) {
                try await moved.accessTokens.authenticate(kept.access, from: .system)
            }
        }
    }

    /// The key that signed it is withdrawn, or younger than a backup that was restored. The refresh token within stands for itself.
    @Test func aKeyThatIsGone_endsNoSession_ofAClientThatKeepsOneString() async throws {
        try await EndpointsFixture.with { server in
            _ = try await server.makeClient(#"{"client_id":"one","token_style":"single"}"#)
            let (kept, ended, revoked) = (
                try await server.logIn(device: "a", client: "one").access,
                try await server.logIn(device: "b", client: "one").access,
                try await server.logIn(device: "c", client: "one").access
            )
            // A client that could be asked for the key's word is not believed without it.
            let unsigned = kept.split(separator: ".").dropLast().joined(separator: ".") + ".AAAA"
            #expect(await server.refresh(unsigned, more: "&client_id=one").string("reason") == "malformed")
            let key = try #require(server.context.signingKeys.all.first { $0.algorithm == "ES256" }?.id)
            #expect(await server.admin(.delete, "/admin/v1/keys/\(key)").status == 204)
            #expect(await server.call(.get, "/v1/me", bearer: kept).status == 401)
            let forged = kept.replacing(/^[^.]+\.[^.]+/) { match in
                let claims = #"{"sid":"x","rt":"sjr_x"}"#
                return match.output.split(separator: ".")[0] + "." + Base64URL.encode(Array(claims.utf8))
            }
            #expect(await server.refresh(forged, more: "&client_id=one").string("reason") == "malformed")

            let renewed = await server.refresh(kept, more: "&client_id=one")
            #expect(renewed.status == 200, "\(renewed.text)")
            let access = try #require(renewed.string("access_token"))
            #expect(await server.call(.get, "/v1/me", bearer: access).status == 200)
            #expect(await server.call(.post, "/v1/logout", bearer: ended).status == 204)
            #expect(await server.refresh(ended, more: "&client_id=one").string("reason") == "logged_out")
            #expect(await server.form("/oauth/revoke", "token=\(revoked)&client_id=one").status == 200)
            #expect(await server.refresh(revoked, more: "&client_id=one").string("reason") == "logged_out")
        }
    }
}
