import Foundation
import SojournClient
import SojournTestKit
import Testing

extension ContractCase {
    private static let password = "correct horse battery"

    /// A session in a mode, with a presence key if the mode is `BIOMETRIC`.
    private static func logIn(
        _ client: ContractClient, _ user: String, _ mode: String, key: (any DeviceKey)? = nil,
        more: [String: JSONValue] = [:]
    ) async throws -> ContractAnswer {
        var members: [String: JSONValue] = [
            "username": .string(user), "password": .string(password), "device": .object(["id": .string("phone")]),
            "authentication_mode": .string(mode),
        ]
        members["presence_key"] = key.flatMap { JSONValue(parsing: Array($0.publicKey.json.utf8)) }
        return try await client.send("POST", "/v1/login", json: members.merging(more) { $1 })
    }

    private static func presenceKey() async throws -> any DeviceKey {
        try await SoftwareKeys.temporary().makeKey(.presence)
    }

    private static func assertion(
        _ client: ContractClient, _ session: ContractAnswer, by key: any DeviceKey
    ) async throws -> String {
        var server = client.server.url.absoluteString
        if server.hasSuffix("/") { server.removeLast() }
        return try await AssertionMaker(key: key).assertion(
            issuer: session.text("session_id") ?? "",
            subject: session.json["user"]?.members?.text("user_id") ?? "", audience: server,
            issuedAt: session.integer("issued_at") ?? 0, lifetime: 300)
    }

    private static func setMode(
        _ client: ContractClient, _ session: ContractAnswer, _ mode: String, _ more: [String: JSONValue] = [:]
    ) async throws -> ContractAnswer {
        try await client.send(
            "PUT", "/v1/me/authentication-mode", json: ["authentication_mode": .string(mode)].merging(more) { $1 },
            bearer: session.accessToken)
    }

    static let presence = [
        ContractCase("there are three modes") { (client, user) async throws in
            try await client.server.createUser(user, password: password)
            for mode in ["NO", "BIOMETRIC", "PASSWORD"] {
                #expect(try await logIn(client, user, mode).text("authentication_mode") == mode)
            }
            let session = try await client.logIn(user, password)
            for mode in ["FACE", "no", "Biometric"] {
                #expect(try await logIn(client, user, mode).summary == "400 invalid_request")
                #expect(try await setMode(client, session, mode).summary == "400 invalid_request")
            }
            for mode in ["PASSWORD", "BIOMETRIC", "NO"] {
                let answer = try await setMode(client, session, mode)
                #expect(answer.status == 200 && answer.text("authentication_mode") == mode)
                #expect(answer.bool("activation_pending") == false && answer.integer("auth_time") != nil)
                #expect(try await client.renew(session.refreshToken).text("authentication_mode") == mode)
            }
        },
        ContractCase("a mode cannot be changed until the presence key of the login has signed") {
            (client, user) async throws in
            try await client.server.createUser(user, password: password)
            let key = try await presenceKey()
            let session = try await logIn(client, user, "BIOMETRIC", key: key)
            #expect(try await setMode(client, session, "PASSWORD").summary == "409 activation_pending")
            let assertion = try await assertion(client, session, by: key)
            let shown = try await client.send(
                "POST", "/v1/me/presence", json: ["user_assertion": .string(assertion)], bearer: session.accessToken)
            #expect(shown.status == 200 && shown.bool("activation_pending") == false)
            #expect(try await setMode(client, session, "PASSWORD").status == 200)
            // An assertion counts once.
            let again = try await client.send(
                "POST", "/v1/me/presence", json: ["user_assertion": .string(assertion)], bearer: session.accessToken)
            #expect(again.summary == "401 insufficient_user_authentication kept")
        },
        ContractCase("a later presence key signs its own registration") { (client, user) async throws in
            try await client.server.createUser(user, password: password)
            let session = try await client.logIn(user, password)
            let key = try await presenceKey()
            let jwk = ["presence_key": try #require(JSONValue(parsing: Array(key.publicKey.json.utf8)))]
            #expect(try await setMode(client, session, "BIOMETRIC", jwk).summary == "400 invalid_request")
            let signed = ["user_assertion": JSONValue.string(try await assertion(client, session, by: key))]
            #expect(try await setMode(client, session, "BIOMETRIC", jwk.merging(signed) { $1 }).status == 200)
            #expect(try await setMode(client, session, "PASSWORD").status == 200)
            let back = ["user_assertion": JSONValue.string(try await assertion(client, session, by: key))]
            #expect(try await setMode(client, session, "BIOMETRIC", back).text("authentication_mode") == "BIOMETRIC")
        },
        ContractCase("a session asks for its user, and goes on", .own("asks")) { (client, user) async throws in
            try await client.server.createUser(user, password: password)
            try await client.server.askForUser(every: 1)
            let key = try await presenceKey()
            let session = try await logIn(client, user, "BIOMETRIC", key: key)
            try await client.server.letPass(.milliseconds(2100))
            let refused = try await client.renew(session.refreshToken)
            #expect(refused.summary == "400 insufficient_user_authentication kept")
            #expect(refused.text("acr_values") == "presence password" && refused.integer("max_age") == 1)
            let call = try await client.send("GET", "/v1/me", bearer: session.accessToken)
            #expect(call.summary == "401 insufficient_user_authentication kept")
            #expect(call.text("acr_values") == "presence password" && call.integer("max_age") == 1)
            let wrong = try await client.send(
                "POST", "/v1/me/presence", json: ["password": .string("wrong")], bearer: session.accessToken)
            #expect(wrong.summary == "401 invalid_credentials")
            let assertion = try await assertion(client, session, by: key)
            let renewed = try await client.renew(session.refreshToken, more: ["user_assertion": assertion])
            #expect(renewed.status == 200 && renewed.text("session_id") == session.text("session_id"))
            #expect(try await client.send("GET", "/v1/me", bearer: renewed.accessToken).status == 200)
        },
        ContractCase("a session for which no way exists asks for a login", .own("no way")) {
            (client, user) async throws in
            try await client.server.createUser(user, password: nil)
            let session = try await client.open(user)
            #expect(try await setMode(client, session, "PASSWORD").summary == "409 password_missing")
            #expect(try await setMode(client, session, "BIOMETRIC").status == 200)
            try await client.server.askForUser(every: 1)
            try await client.server.letPass(.milliseconds(2100))
            #expect(
                try await client.renew(session.refreshToken).summary
                    == "400 insufficient_user_authentication log in again")
        },
        ContractCase("a login that names the session of the device continues it") { (client, user) async throws in
            try await client.server.createUser(user, password: password)
            let session = try await client.logIn(user, password)
            let id = try #require(session.json["session_id"])
            let next = try await logIn(client, user, "PASSWORD", more: ["session_id": id])
            #expect(next.json["session_id"] == id && next.text("authentication_mode") == "PASSWORD")
            #expect(try await client.renew(next.refreshToken).json["session_id"] == id)
            #expect(try await client.renew(session.refreshToken).status == 200)
            let other = try await logIn(
                client, user, "PASSWORD", more: ["session_id": id, "device": .object(["id": .string("tablet")])])
            #expect(other.status == 200 && other.json["session_id"] != id)
            try await client.server.revokeAll(user)
            let fresh = try await logIn(client, user, "NO", more: ["session_id": id])
            #expect(fresh.status == 200 && fresh.json["session_id"] != id)
        },
    ]
}
