import SojournClient
import SojournTestKit
import Testing

extension ContractCase {
    private static func begin(_ client: ContractClient, _ user: String) async throws -> ContractAnswer {
        try await client.server.createUser(user, password: nil)
        return try await client.open(user)
    }

    static let times = [
        ContractCase("the times of an answer") { (client, user) async throws in
            let answer = try await begin(client, user)
            let issuedAt = try #require(answer.integer("issued_at"))
            #expect(answer.integer("refresh_after") == issuedAt + 3600)
            #expect(answer.integer("expires_in") == 1_209_600)
            #expect(answer.integer("expires_at") == issuedAt + 1_209_600)
            #expect(answer.integer("session_idle_expires_at") == issuedAt + 1_209_600)
            #expect(answer.integer("session_expires_at") == issuedAt + 15_552_000)
        },
        ContractCase("the server tells its time") { (client, user) async throws in
            let issuedAt = try #require(try await begin(client, user).integer("issued_at"))
            let answer = try await client.renew("sjr_junk")
            let date = try #require(answer.fields["Date"].flatMap(HTTPDate.seconds))
            #expect(abs(date - issuedAt) <= 2)
        },
        ContractCase("a session that is not used ends", .idle) { (client, user) async throws in
            let session = try await begin(client, user)
            try await client.server.letPass(.milliseconds(4200))
            #expect(try await client.renew(session.refreshToken).summary == "400 idle_expired log in again")
        },
        ContractCase("an access token that has expired", .idle) { (client, user) async throws in
            let session = try await begin(client, user)
            try await client.server.letPass(.milliseconds(4200))
            #expect(try await client.send("GET", "/v1/me", bearer: session.accessToken).summary == "401 invalid_token")
            // It still ends its session.
            #expect(try await client.send("POST", "/v1/logout", bearer: session.accessToken).status == 204)
        },
        ContractCase("each rotation begins the idle time anew", .idle) { (client, user) async throws in
            var session = try await begin(client, user)
            for _ in 0..<3 {
                try await client.server.letPass(.milliseconds(2200))
                session = try await client.renew(session.refreshToken)
                #expect(session.status == 200)
            }
        },
        ContractCase("each answered refresh begins the idle time anew, without a rotation as well", .idleSlow) {
            (client, user) async throws in
            var session = try await begin(client, user)
            for _ in 0..<3 {
                try await client.server.letPass(.milliseconds(2200))
                session = try await client.renew(session.refreshToken)
                #expect(session.status == 200)
            }
        },
        ContractCase("a session that is used ends at its maximum", .short) { (client, user) async throws in
            var session = try await begin(client, user)
            let end = session.integer("session_expires_at")
            try await client.server.letPass(.milliseconds(2200))
            session = try await client.renew(session.refreshToken)
            #expect(session.integer("session_expires_at") == end)
            #expect(session.integer("expires_at") == end)
            try await client.server.letPass(.milliseconds(2000))
            #expect(try await client.renew(session.refreshToken).summary == "400 max_lifetime_reached log in again")
        },
    ]
}
