import SojournClient
import SojournTestKit
import Testing

extension ContractClient {
    private static let password = "a first password"

    /// Asks for a proof of a mailbox.
    fileprivate func ask(_ purpose: String, _ email: String, key: String? = nil) async throws -> ContractAnswer {
        try await send(
            "POST", "/v1/verifications", json: ["purpose": .string(purpose), "email": .string(email)],
            fields: key.map { [HTTPMessageField("Idempotency-Key", $0)] } ?? [])
    }

    /// A call about a proof, by its token.
    fileprivate func show(_ code: String, of asked: ContractAnswer) async throws -> ContractAnswer {
        try await send(
            "POST", "/v1/verifications/\(asked.text("verification_id") ?? "")/code", json: ["code": .string(code)],
            bearer: asked.text("verification_token"))
    }

    /// Makes the account of a proven mailbox.
    fileprivate func signUp(
        _ asked: ContractAnswer, password: String = Self.password, key: String? = nil,
        more: [String: JSONValue] = [:]
    ) async throws -> ContractAnswer {
        let members: [String: JSONValue] = [
            "verification_token": .string(asked.text("verification_token") ?? ""), "password": .string(password),
            "device": .object(["id": .string("phone")]),
        ]
        return try await send(
            "POST", "/v1/sign-up", json: members.merging(more) { $1 },
            fields: key.map { [HTTPMessageField("Idempotency-Key", $0)] } ?? [])
    }

    /// A signed-in user with a proven mailbox.
    fileprivate func newUser(_ email: String) async throws -> ContractAnswer {
        try await server.change(ClientSettings(takesSignUps: true))
        let asked = try await ask("sign_up", email)
        #expect(try await show(try await server.mailedCode(to: email, besides: []), of: asked).status == 200)
        let tokens = try await signUp(asked)
        #expect(tokens.status == 200, "\(tokens)")
        return tokens
    }

    /// Sets a password by a proof.
    fileprivate func reset(_ asked: ContractAnswer, to password: String) async throws -> ContractAnswer {
        try await send(
            "POST", "/v1/password-reset",
            json: [
                "verification_token": .string(asked.text("verification_token") ?? ""),
                "new_password": .string(password),
            ])
    }
}

extension ContractCase {
    /// The cases share a server that sends mails.
    static let mails = [
        ContractCase("a sign-up makes user, mailbox and session after the proof", .mailed) {
            (client, user) async throws in
            try await client.server.change(ClientSettings(takesSignUps: true))
            let email = "\(user)@sojourn.test"
            let asked = try await client.ask("sign_up", email, key: user)
            #expect(asked.status == 202 && asked.integer("code_length") == 8)
            #expect((asked.integer("resend_after") ?? 0) > 50 && asked.integer("expires_at") != nil)
            let again = try await client.ask("sign_up", email, key: user)
            #expect(again.text("verification_token") == asked.text("verification_token"))
            #expect(try await client.signUp(asked).summary == "400 verification_over")
            let code = try await client.server.mailedCode(to: email, besides: [])
            #expect(try await client.show(code, of: asked).text("state") == "proven")
            #expect(try await client.show(code, of: asked).text("state") == "proven")
            let short = try await client.signUp(asked, password: "short")
            #expect(short.summary == "400 invalid_request" && short.text("member") == "password")
            let named = try await client.signUp(asked, more: ["username": .string(user)])
            #expect(named.summary == "400 invalid_request" && named.text("member") == "username")
            let tokens = try await client.signUp(asked, key: user)
            #expect(tokens.status == 200)
            #expect(tokens.json["user"]?.members?.text("username") == email)
            let repeated = try await client.signUp(asked, key: user)
            #expect(repeated.text("session_id") == tokens.text("session_id"))
            #expect(try await client.logIn(email, "a first password", device: "tablet").status == 200)
        },
        ContractCase("a known mailbox is answered like an unknown one", .mailed) { (client, user) async throws in
            let email = "\(user)@sojourn.test"
            _ = try await client.newUser(email)
            for (purpose, address) in [("sign_up", email), ("reset", email), ("reset", "no-\(email)")] {
                let asked = try await client.ask(purpose, address)
                #expect(asked.status == 202, "\(purpose) \(address)")
                #expect(
                    Set(asked.json.keys) == [
                        "verification_id", "verification_token", "code_length", "expires_at", "resend_after",
                    ])
            }
        },
        ContractCase("five wrong codes end a proof", .mailed) { (client, user) async throws in
            try await client.server.change(ClientSettings(takesSignUps: true))
            let email = "\(user)@sojourn.test"
            let asked = try await client.ask("sign_up", email)
            let code = try await client.server.mailedCode(to: email, besides: [])
            let wrong = code == "00000000" ? "00000001" : "00000000"
            for left in [4, 3, 2, 1, 0] as [Int64] {
                let refused = try await client.show(wrong, of: asked)
                #expect(refused.summary == "400 invalid_code" && refused.integer("attempts_left") == left)
            }
            #expect(try await client.show(code, of: asked).summary == "400 verification_over")
            #expect(try await client.signUp(asked).summary == "400 verification_over")
        },
        ContractCase("a mail is not sent again at once", .mailed) { (client, user) async throws in
            try await client.server.change(ClientSettings(takesSignUps: true))
            let asked = try await client.ask("sign_up", "\(user)@sojourn.test")
            let again = try await client.send(
                "POST", "/v1/verifications/\(asked.text("verification_id") ?? "")/resend",
                bearer: asked.text("verification_token"))
            #expect(again.status == 202 && again.text("verification_id") == asked.text("verification_id"))
            #expect(again.text("verification_token") == nil && again.integer("resend_after") ?? 0 > 50)
        },
        ContractCase("an address that mails are not sent to is refused", .mailed) { (client, _) async throws in
            for address in ["anna", "anna@localhost", "\"an na\"@example.org", "anna@exämple.org"] {
                #expect(try await client.ask("reset", address).summary == "400 email_not_supported")
            }
            #expect(try await client.ask("sign_in", "anna@example.org").summary == "403 login_method_not_allowed")
        },
        ContractCase("a reset ends the sessions, once, and signs in nowhere", .mailed) { (client, user) async throws in
            let email = "\(user)@sojourn.test"
            let tokens = try await client.newUser(email)
            let first = try await client.server.mailedCode(to: email, besides: [])
            let asked = try await client.ask("reset", email)
            #expect(try await client.reset(asked, to: "a new password").text("member") == "reset_token")
            let code = try await client.server.mailedCode(to: email, besides: [first])
            #expect(try await client.show(code, of: asked).status == 200)
            #expect(try await client.reset(asked, to: "short").text("member") == "new_password")
            #expect(try await client.reset(asked, to: "a new password").status == 204)
            #expect(try await client.reset(asked, to: "another password").text("member") == "reset_token")
            #expect(try await client.renew(tokens.refreshToken).text("reason") == "password_changed")
            #expect(try await client.logIn(email, "a new password").status == 200)
        },
        ContractCase("another mailbox counts after its proof, in the session that asked", .mailed) {
            (client, user) async throws in
            let tokens = try await client.newUser("\(user)@sojourn.test")
            let new = "new-\(user)@sojourn.test"
            let asked = try await client.send(
                "POST", "/v1/me/email", json: ["email": .string(new)], bearer: tokens.accessToken)
            #expect(asked.status == 202 && asked.text("verification_token") == nil)
            let direct = try await client.send(
                "PATCH", "/v1/me", json: ["email": .string(new)], bearer: tokens.accessToken)
            #expect(direct.summary == "409 email_needs_proof")
            let code = try await client.server.mailedCode(to: new, besides: [])
            let confirmed = try await client.send(
                "POST", "/v1/me/email/confirm", json: ["code": .string(code)], bearer: tokens.accessToken)
            #expect(confirmed.status == 200 && confirmed.text("email") == new)
            let again = try await client.send(
                "POST", "/v1/me/email/confirm", json: ["code": .string(code)], bearer: tokens.accessToken)
            #expect(again.summary == "400 verification_over")
        },
        ContractCase("a deleted account waits, and a login keeps it", .mailed) { (client, user) async throws in
            let email = "\(user)@sojourn.test"
            let tokens = try await client.newUser(email)
            let deleted = try await client.send("DELETE", "/v1/me", bearer: tokens.accessToken)
            #expect(deleted.status == 202 && deleted.integer("delete_at") != nil)
            #expect(try await client.send("GET", "/v1/me", bearer: tokens.accessToken).status == 401)
            #expect(try await client.logIn(email, "a first password").summary == "409 deletion_pending")
            let kept = try await client.send(
                "POST", "/v1/login",
                json: [
                    "username": .string(email), "password": .string("a first password"),
                    "cancel_deletion": .bool(true), "device": .object(["id": .string("phone")]),
                ])
            #expect(kept.status == 200)
            #expect(try await client.logIn(email, "a first password", device: "tablet").status == 200)
        },
    ]
}
