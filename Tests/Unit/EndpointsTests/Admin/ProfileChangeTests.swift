import HTTP
import Sessions
import StoreConformance
import Testing

@testable import Endpoints

/// Where a user is reached changes only while the user is there (ASVS 5 7.5.1): a thief of a token could else have the next
/// reset of the password, and the warnings, sent to themselves.
@Suite struct ProfileChangeTests {
    enum Proof { case none, finger, strangersFinger, password, wrongPassword }

    private static let changes = [
        #""email":"eve@example.org""#, #""email":"Anna@example.org""#, #""email":null"#, #""phone_number":"+49 2""#,
    ]
    private static let rows: [(Int64, Proof, Int)] = [
        // The login counts for five minutes.
        (0, .none, 200), (299, .none, 200), (300, .none, 401),
        (9000, .finger, 200), (9000, .password, 200), (9000, .wrongPassword, 401), (9000, .strangersFinger, 401),
        (0, .wrongPassword, 401),
    ]

    private static func send(_ change: String, _ proof: Proof, _ phone: GuardedPhone) async -> Answer {
        let more =
            switch proof {
            case .none: ""
            case .finger: #","user_assertion":"\#(phone.touch())""#
            case .strangersFinger:
                #","user_assertion":"\#(ProvingDevice().assertion(phone.server, phone.tokens))""#
            case .password: #","password":"\#(EndpointsFixture.password)""#
            case .wrongPassword: #","password":"wrong""#
            }
        return await phone.server.call(.patch, "/v1/me", "{\(change)\(more)}", bearer: phone.tokens.access)
    }

    @Test(arguments: rows)
    func anotherAddressOrNumberTakesTheUser(_ seconds: Int64, _ proof: Proof, _ status: Int) async throws {
        try await EndpointsFixture.with { server in
            let phone = try await GuardedPhone(server, .biometric)
            server.moveClock(to: seconds)
            for change in Self.changes {
                let before = await server.admin(.get, "/admin/v1/users/username:anna").text
                let answer = await Self.send(change, proof, phone)
                #expect(answer.status == status, "\(change): \(answer.text)")
                let after = await server.admin(.get, "/admin/v1/users/username:anna").text
                #expect((before == after) == (status != 200), "\(change)")
                if status == 401, proof != .wrongPassword {
                    #expect(answer.string("code") == "insufficient_user_authentication")
                    let challenge = try #require(answer.field("WWW-Authenticate"))
                    #expect(challenge.contains(#"acr_values="presence password""#), "\(challenge)")
                    #expect(challenge.contains(#"max_age="300""#), "\(challenge)")
                } else if status == 401 {
                    #expect(answer.string("code") == "invalid_credentials")
                }
            }
        }
    }

    @Test func theRestOfTheProfileTakesTheTokenAlone_andSoDoesWhatIsThereAlready() async throws {
        try await EndpointsFixture.with { server in
            let phone = try await GuardedPhone(server, .no)
            server.moveClock(to: 9000)
            for change in [
                #""display_name":"Anna A.","country":"DE""#, #""email":"anna@example.org","display_name":"A""#,
                #""phone_number":null"#,
            ] {
                #expect(await Self.send(change, .none, phone).status == 200, "\(change)")
            }
            // All or nothing.
            #expect(await Self.send(#""display_name":"Eve","email":"eve@example.org""#, .none, phone).status == 401)
            #expect(await server.call(.get, "/v1/me", bearer: phone.tokens.access).string("display_name") == "A")
        }
    }

    /// As everywhere, they count for the session that they come with.
    @Test func wrongPasswordsAreGuesses() async throws {
        try await EndpointsFixture.with { server in
            var limits = RateLimits()
            limits.wrongPasswordsPerAddress = 1
            let limited = RateLimitFixture(server, limits)
            let token = try #require((await limited.logIn()).string("access_token"))
            func send(_ password: String, from address: String) async -> Answer {
                await limited.json(
                    .patch, "/v1/me", #"{"email":"eve@example.org","password":"\#(password)"}"#,
                    authorization: "Bearer \(token)", from: address)
            }
            for _ in 1...10 { #expect(await send("wrong", from: "192.0.2.1").status == 401) }
            let waits = await send(EndpointsFixture.password, from: "192.0.2.77")
            #expect(waits.status == 429 && waits.string("code") == "too_many_requests", "\(waits.text)")
            // What failedAttempts nothing costs nothing there, and the session lives.
            let name = await limited.json(
                .patch, "/v1/me", #"{"display_name":"A"}"#, authorization: "Bearer \(token)")
            #expect(name.status == 200)
        }
    }

    /// A change with the old password races with one that replaces it, and loses.
    @Test func aPasswordThatIsReplacedWhileItIsHashedShowsNothing() async throws {
        try await EndpointsFixture.with { server in
            let hash = try HeldHash()
            let node = try await server.anotherNode(passwords: hash.passwords)
            let phone = try await GuardedPhone(node, .no)
            server.moveClock(to: 9000)
            let answer = try await hash.during {
                await Self.send(#""email":"eve@example.org""#, .password, phone)
            } _: {
                let replaced = await server.admin(
                    .put, "/admin/v1/users/username:anna/password", #"{"new_password":"battery staple"}"#)
                #expect(replaced.status == 204, "\(replaced.text)")
            }
            #expect(answer.status == 401 && answer.string("code") == "password_changed", "\(answer.text)")
            let user = await server.admin(.get, "/admin/v1/users/username:anna")
            #expect(user.string("email") == "anna@example.org")
        }
    }

    /// A user from a provider has no password, and may have no key: a new login will do.
    @Test func aUserWithoutAPasswordLogsInAgain() async throws {
        try await ProviderFixture.with { world in
            let server = world.server
            let old = try Tokens(try await world.logIn(#"{"sub":"u1","jti":"1"}"#))
            server.moveClock(to: 300)
            let body = #"{"email":"ada@example.org"}"#
            let refused = await server.call(.patch, "/v1/me", body, bearer: old.access)
            #expect(refused.string("code") == "insufficient_user_authentication", "\(refused.text)")
            let guess = #"{"email":"ada@example.org","password":"x"}"#
            let wrong = await server.call(.patch, "/v1/me", guess, bearer: old.access)
            #expect(wrong.string("code") == "invalid_credentials", "\(wrong.text)")
            let fresh = try world.provider.token(#"{"jti":"2"}"#, at: EndpointsFixture.start + 300)
            let new = try Tokens(await world.present(fresh))
            #expect(await server.call(.patch, "/v1/me", body, bearer: new.access).status == 200)
        }
    }

    @Test func everyChangeOfTheAddressIsInTheTrail_withWhatItWas() async throws {
        try await EndpointsFixture.with { server in
            let phone = try await GuardedPhone(server, .no)
            #expect(await Self.send(#""email":"eve@example.org""#, .none, phone).status == 200)
            #expect(await Self.send(#""email":"eve@example.org","country":"DE""#, .none, phone).status == 200)
            let path = "/admin/v1/users/username:anna"
            #expect(await server.admin(.patch, path, #"{"email":null}"#).status == 200)
            #expect(await server.admin(.patch, path, #"{"display_name":"A"}"#).status == 200)
            let events = await server.admin(.get, "/admin/v1/events?user=\(phone.tokens.userID)&limit=200").items
            let changes = events.filter { $0.string("event") == "email_changed" }
            #expect(
                changes.map { $0.string("reason") } == ["anna@example.org>eve@example.org", "eve@example.org>"])
            #expect(changes.first?.string("actor") == "user")
            #expect(changes.last?.string("actor")?.hasPrefix("admin:") == true)
            #expect(events.count { $0.string("event") == "user_changed" } == 4)
        }
    }

    @Test("the trail keeps no address of a user that is deleted, and those of others")
    func deletedAddresses() async throws {
        try await EndpointsFixture.with { server in
            let path = "/admin/v1/users/username:anna"
            for email in ["eve@example.org", "ann@example.org"] {
                #expect(await server.admin(.patch, path, #"{"email":"\#(email)"}"#).status == 200)
            }
            let bert = await server.admin(.post, "/admin/v1/users", #"{"username":"bert","email":"bert@one.example"}"#)
            #expect(bert.status == 201)
            let change = #"{"email":"bert@two.example"}"#
            #expect(await server.admin(.patch, "/admin/v1/users/username:bert", change).status == 200)
            #expect(await server.admin(.get, "/admin/v1/events?limit=200").text.contains("eve@example.org"))
            #expect((200...204).contains(await server.admin(.delete, path).status))
            let trail = await server.admin(.get, "/admin/v1/events?limit=200")
            #expect(!trail.text.contains("@example.org"))
            #expect(trail.items.count { $0.string("event") == "email_changed" } == 3)
            #expect(trail.text.contains("bert@one.example>bert@two.example"))
        }
    }
}
