import SojournClient
import SojournTestKit
import Testing

extension ContractClient {
    /// A login without a user.
    fileprivate func logInAnonymously(
        key: String? = nil, device: String = "phone", more: [String: JSONValue] = [:]
    ) async throws -> ContractAnswer {
        let members: [String: JSONValue] = ["anonymous": .bool(true), "device": .object(["id": .string(device)])]
        return try await send(
            "POST", "/v1/login", json: members.merging(more) { $1 },
            fields: key.map { [HTTPMessageField("Idempotency-Key", $0)] } ?? [])
    }

    /// Names the user of an access token.
    fileprivate func name(
        _ tokens: ContractAnswer, _ username: String, _ password: String = "a first password"
    ) async throws -> ContractAnswer {
        try await send(
            "POST", "/v1/me/account", json: ["username": .string(username), "password": .string(password)],
            bearer: tokens.accessToken)
    }
}

extension ContractCase {
    /// The cases share a server, on which anonymous users are allowed.
    static let anonymousUsers = [
        ContractCase("anonymous users have to be allowed", .own("no anonymous users")) { (client, _) async throws in
            #expect(try await client.logInAnonymously().summary == "400 unauthorized_client")
        },
        ContractCase("an anonymous login has a session and no name", .own("anonymous users")) {
            (client, user) async throws in
            try await client.server.setAnonymousUsers(true)
            let tokens = try await client.logInAnonymously()
            #expect(tokens.status == 200)
            #expect(tokens.json["user"]?.members?["anonymous"]?.bool == true)
            #expect(tokens.json["user"]?.members?.text("username") == nil)
            let renewed = try await client.renew(tokens.refreshToken)
            #expect(renewed.json["user"]?.members?.text("user_id") == tokens.json["user"]?.members?.text("user_id"))
            let other = try await client.logInAnonymously()
            #expect(other.text("session_id") != tokens.text("session_id"))
            for (name, value) in [("username", user), ("id_token", user)] {
                let refused = try await client.logInAnonymously(more: [name: .string(value)])
                #expect(refused.summary == "400 invalid_request")
            }
        },
        ContractCase("a repeated anonymous login makes one user, and the key of another none", .own("anonymous users"))
        { (client, user) async throws in
            try await client.server.setAnonymousUsers(true)
            let first = try await client.logInAnonymously(key: user)
            let again = try await client.logInAnonymously(key: user)
            #expect(again.text("session_id") == first.text("session_id"))
            let other = try await client.logInAnonymously(key: user, device: "tablet")
            #expect(other.summary == "409 idempotency_key_used")
            #expect(try await client.renew(first.refreshToken).status == 200)
        },
        ContractCase("an anonymous user is named, once, in the same session", .own("anonymous users")) {
            (client, user) async throws in
            try await client.server.setAnonymousUsers(true)
            let tokens = try await client.logInAnonymously()
            let named = try await client.name(tokens, user)
            #expect(named.status == 200 && named.text("username") == user)
            #expect(named.text("user_id") == tokens.json["user"]?.members?.text("user_id"))
            #expect(named.json["anonymous"] == nil)
            #expect(try await client.name(tokens, user).status == 200)
            #expect(try await client.name(tokens, user, "another password").summary == "409 not_anonymous")
            #expect(try await client.name(tokens, user + "-2").summary == "409 not_anonymous")
            let renewed = try await client.renew(tokens.refreshToken)
            #expect(renewed.text("session_id") == tokens.text("session_id"))
            #expect(renewed.json["user"]?.members?.text("username") == user)
            #expect(try await client.logIn(user, "a first password", device: "tablet").status == 200)
        },
        ContractCase("a name of another user is refused", .own("anonymous users")) { (client, user) async throws in
            try await client.server.setAnonymousUsers(true)
            try await client.server.createUser(user, password: "a first password")
            let tokens = try await client.logInAnonymously()
            #expect(try await client.name(tokens, user).summary == "409 username_taken")
            let me = try await client.send("GET", "/v1/me", bearer: tokens.accessToken)
            #expect(me.bool("anonymous") == true)
            #expect(try await client.name(tokens, user + "-2").status == 200)
        },
        ContractCase("a named user is not named again", .own("anonymous users")) { (client, user) async throws in
            try await client.server.createUser(user, password: "a first password")
            let tokens = try await client.logIn(user, "a first password")
            #expect(try await client.name(tokens, user + "-2").summary == "409 not_anonymous")
        },
    ]
}
