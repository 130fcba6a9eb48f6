import SojournClient
import SojournTestKit
import Testing

extension ContractCase {
    /// What a refresh and a call with the access token of an ended session are answered.
    private static func expectEnd(
        _ client: ContractClient, _ answer: ContractAnswer, _ reason: String, help: String = "log in again"
    ) async throws {
        #expect(try await client.renew(answer.refreshToken).summary == "400 \(reason) \(help)")
        let me = try await client.send("GET", "/v1/me", bearer: answer.accessToken)
        #expect(me.summary == "401 \(reason) \(help)")
    }

    static let endings = [
        ContractCase("an admin ends the sessions of a user") { (client, user) async throws in
            try await client.server.createUser(user, password: nil)
            let session = try await client.open(user)
            try await client.server.revokeAll(user)
            try await expectEnd(client, session, "revoked_by_admin")
        },
        ContractCase("an admin ends all sessions", .own("revoke-all")) { (client, user) async throws in
            try await client.server.createUser(user, password: nil)
            let session = try await client.open(user)
            try await client.server.revokeEverything()
            try await expectEnd(client, session, "revoked_by_admin")
            let next = try await client.open(user)
            #expect(try await client.renew(next.refreshToken).status == 200)
        },
        ContractCase("disabled logins end nothing") { (client, user) async throws in
            try await client.server.createUser(user, password: nil)
            let session = try await client.open(user)
            try await client.server.disable(user)
            try await expectEnd(client, session, "login_disabled_by_admin", help: "kept")
            try await client.server.enable(user)
            #expect(try await client.renew(session.refreshToken).status == 200)
            #expect(try await client.send("GET", "/v1/me", bearer: session.accessToken).status == 200)
        },
        ContractCase("a new password by an admin ends the sessions") { (client, user) async throws in
            try await client.server.createUser(user, password: "a first password")
            let session = try await client.open(user)
            try await client.server.resetPassword(user, to: "a second password")
            try await expectEnd(client, session, "password_changed")
            #expect(try await client.logIn(user, "a first password").summary == "401 invalid_credentials")
            #expect(try await client.logIn(user, "a second password").status == 200)
        },
        ContractCase("a deleted user") { (client, user) async throws in
            try await client.server.createUser(user, password: nil)
            let session = try await client.open(user)
            try await client.server.deleteUser(user)
            try await expectEnd(client, session, "user_deleted", help: "kept")
        },
        ContractCase("a logout by the refresh token, twice") { (client, user) async throws in
            try await client.server.createUser(user, password: nil)
            let session = try await client.open(user)
            let members = ["refresh_token": JSONValue.string(session.refreshToken)]
            #expect(try await client.send("POST", "/v1/logout", json: members).status == 204)
            try await expectEnd(client, session, "logged_out")
            #expect(try await client.send("POST", "/v1/logout", json: members).status == 204)
        },
        ContractCase("a logout by the access token") { (client, user) async throws in
            try await client.server.createUser(user, password: nil)
            let session = try await client.open(user)
            #expect(try await client.send("POST", "/v1/logout", bearer: session.accessToken).status == 204)
            try await expectEnd(client, session, "logged_out")
        },
        ContractCase("a logout of one device leaves the others") { (client, user) async throws in
            try await client.server.createUser(user, password: nil)
            let (phone, tablet) = (try await client.open(user), try await client.open(user, device: "tablet"))
            #expect(try await client.send("POST", "/v1/logout", bearer: phone.accessToken).status == 204)
            #expect(try await client.renew(tablet.refreshToken).status == 200)
        },
        ContractCase("a logout with junk") { (client, _) async throws in
            let members = ["refresh_token": JSONValue.string("sjr_junk")]
            #expect(
                try await client.send("POST", "/v1/logout", json: members).summary == "401 malformed log in again")
            #expect(try await client.send("POST", "/v1/logout").summary == "401 unauthenticated")
        },
    ]
}
