import SojournClient
import SojournTestKit
import Testing

extension ContractCase {
    /// A new user's session.
    private static func begin(_ client: ContractClient, _ user: String) async throws -> ContractAnswer {
        try await client.server.createUser(user, password: nil)
        return try await client.open(user)
    }

    /// Lets a rotation interval of one second pass.
    private static func passInterval(_ client: ContractClient) async throws {
        try await client.server.letPass(.milliseconds(1150))
    }

    private static let reused = "400 refresh_token_reused log in again"

    static let rotation = [
        ContractCase("within the interval a refresh token stays") { (client, user) async throws in
            let first = try await begin(client, user)
            let second = try await client.renew(first.refreshToken)
            #expect(second.status == 200)
            #expect(second.refreshToken == first.refreshToken)
            #expect(second.text("session_id") == first.text("session_id"))
        },
        ContractCase("after the interval a refresh token is followed by another", .quick) {
            (client, user) async throws in
            let first = try await begin(client, user)
            try await passInterval(client)
            let second = try await client.renew(first.refreshToken)
            #expect(second.status == 200)
            #expect(second.refreshToken != first.refreshToken)
        },
        ContractCase("two requests with one parent get one child", .quick) { (client, user) async throws in
            let first = try await begin(client, user)
            try await passInterval(client)
            let second = try await client.renew(first.refreshToken)
            #expect(try await client.renew(first.refreshToken).refreshToken == second.refreshToken)
        },
        ContractCase("a retry gets the child whose answer was lost, however late", .quick) {
            (client, user) async throws in
            let first = try await begin(client, user)
            try await passInterval(client)
            let second = try await client.renew(first.refreshToken, key: "retry")
            try await passInterval(client)
            #expect(try await client.renew(first.refreshToken, key: "retry").refreshToken == second.refreshToken)
        },
        ContractCase("a child that never arrived is replaced by another", .quick) { (client, user) async throws in
            let first = try await begin(client, user)
            try await passInterval(client)
            let lost = try await client.renew(first.refreshToken)
            try await passInterval(client)
            let third = try await client.renew(first.refreshToken)
            #expect(third.status == 200)
            #expect(third.refreshToken != lost.refreshToken)
            // Only the holder of a stolen answer could have it.
            #expect(try await client.renew(lost.refreshToken).summary == reused)
        },
        ContractCase("a parent is refused when its child has arrived", .medium) { (client, user) async throws in
            let first = try await begin(client, user)
            try await client.server.letPass(.milliseconds(3100))
            let second = try await client.renew(first.refreshToken)
            // In the next second, and still within the interval of three.
            try await client.server.letPass(.milliseconds(1050))
            #expect(try await client.renew(second.refreshToken).status == 200)
            try await client.server.letPass(.milliseconds(3100))
            #expect(try await client.renew(first.refreshToken).summary == reused)
            #expect(try await client.renew(second.refreshToken).summary == reused)
        },
        ContractCase("a grandparent is refused, and the session has ended", .quick) { (client, user) async throws in
            let first = try await begin(client, user)
            try await passInterval(client)
            let second = try await client.renew(first.refreshToken)
            try await passInterval(client)
            let third = try await client.renew(second.refreshToken)
            #expect(try await client.renew(first.refreshToken).summary == reused)
            #expect(try await client.renew(third.refreshToken).summary == reused)
            #expect(
                try await client.send("GET", "/v1/me", bearer: third.accessToken).summary
                    == "401 refresh_token_reused log in again")
        },
        ContractCase("a grandparent that was sent before the last child was given out ends nothing", .quick) {
            (client, user) async throws in
            let first = try await begin(client, user)
            try await passInterval(client)
            let second = try await client.renew(first.refreshToken)
            try await passInterval(client)
            let third = try await client.renew(second.refreshToken)
            let rotatedAt = try #require(third.integer("issued_at"))
            let overtaken = try await client.renew(first.refreshToken, more: ["sent_at": "\(rotatedAt)"])
            #expect(overtaken.status == 503)
            #expect(overtaken.text("reason") == "stale_request")
            #expect(overtaken.fields["Retry-After"] == "0")
            #expect(try await client.renew(third.refreshToken).status == 200)
            let later = try await client.renew(first.refreshToken, more: ["sent_at": "\(rotatedAt + 1)"])
            #expect(later.summary == reused)
        },
        ContractCase("another device's name is refused, and the session kept") { (client, user) async throws in
            let first = try await begin(client, user)
            let wrong = try await client.renew(first.refreshToken, more: ["device_id": "tablet"])
            #expect(wrong.summary == "400 device_mismatch kept")
            #expect(try await client.renew(first.refreshToken, more: ["device_id": "phone"]).status == 200)
        },
        ContractCase("an unknown client is refused, and the session kept") { (client, user) async throws in
            let first = try await begin(client, user)
            let wrong = try await client.renew(first.refreshToken, more: ["client_id": "nothing"])
            #expect(wrong.summary == "401 invalid_client")
            #expect(try await client.renew(first.refreshToken).status == 200)
        },
        ContractCase("a request that slept on its way is left undecided") { (client, user) async throws in
            let first = try await begin(client, user)
            let issuedAt = try #require(first.integer("issued_at"))
            #expect(first.integer("rotation_interval") == 120)
            for (age, status): (Int64, Int) in [(0, 200), (50, 200), (70, 503), (3600, 503), (-20, 200), (-60, 503)] {
                let answer = try await client.renew(first.refreshToken, more: ["sent_at": "\(issuedAt - age)"])
                #expect(answer.status == status, "\(age)")
                if status == 503 {
                    #expect(answer.text("reason") == "stale_request")
                    #expect(answer.fields["Retry-After"] == "0")
                    #expect(answer.bool("reauthenticate") == nil)
                    #expect(answer.fields["Date"] != nil)
                }
            }
        },
        ContractCase("junk is no refresh token") { (client, _) async throws in
            #expect(try await client.renew("sjr_junk").summary == "400 malformed log in again")
            #expect(try await client.renew("").summary == "400 invalid_request")
        },
        ContractCase("/v1/refresh says the same in another form") { (client, user) async throws in
            let first = try await begin(client, user)
            let second = try await client.send(
                "POST", "/v1/refresh", json: ["refresh_token": .string(first.refreshToken)])
            #expect(second.status == 200)
            #expect(second.refreshToken == first.refreshToken)
            let junk = try await client.send("POST", "/v1/refresh", json: ["refresh_token": .string("sjr_junk")])
            #expect(junk.summary == "401 malformed log in again")
            #expect(junk.fields["Content-Type"] == "application/problem+json")
        },
        ContractCase("an unknown grant") { (client, _) async throws in
            let answer = try await client.send("POST", "/oauth/token", form: ["grant_type": "nothing"])
            #expect(answer.summary == "400 unsupported_grant_type")
        },
        ContractCase("a request without a refresh token") { (client, _) async throws in
            let form = ["grant_type": "refresh_token", "client_id": "mobile"]
            #expect(try await client.send("POST", "/oauth/token", form: form).summary == "400 invalid_request")
        },
    ]
}
