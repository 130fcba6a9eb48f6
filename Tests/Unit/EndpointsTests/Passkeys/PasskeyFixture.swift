import Cryptography
import HTTP
import JSON
import Sessions
import Testing
import WebAuthnFixture

@testable import Endpoints

extension EndpointsFixture {
    static let android = "android:apk-key-hash:" + String(repeating: "A", count: 43)

    /// Gives `body` a new server with passkeys of `example.org`.
    static func withPasskeys(
        limit: Int = 20, mails: MailWaker? = nil, accounts: AccountRules = AccountRules(),
        _ body: (EndpointsFixture) async throws -> Void
    ) async throws {
        let origins = ["https://example.org", android]
        try await with(
            passkeys: PasskeyPolicy(rpID: "example.org", origins: origins, countMax: limit), mails: mails,
            accounts: accounts, body)
    }

    /// The challenge of new options for a login, or for a registration with an access token.
    func challenge(for bearer: String? = nil) async throws -> [UInt8] {
        let path = bearer == nil ? "/v1/passkeys/options" : "/v1/me/passkeys/options"
        let answer = await call(.post, path, bearer: bearer)
        #expect(answer.status == 200, "\(answer.text)")
        return try #require(answer.string("publicKey", "challenge").flatMap { Base64URL.decode($0) })
    }

    /// Sends a registration.
    func add(
        _ credential: [String: JSONValue], _ bearer: String, name: String? = nil
    ) async throws -> Answer {
        var body: [String: JSONValue] = ["credential": .object(credential)]
        if let name { body["name"] = .string(name) }
        return await call(.post, "/v1/me/passkeys", JSONValue.object(body).compactText ?? "", bearer: bearer)
    }

    /// An authenticator with a passkey of the user of these tokens.
    func passkey(
        of tokens: Tokens, _ algorithm: SignatureAlgorithm = .es256, id: [UInt8] = Array(1...16), name: String? = nil,
        _ edit: (inout SoftAuthenticator) -> Void = { _ in }
    ) async throws -> SoftAuthenticator {
        var authenticator = SoftAuthenticator(algorithm, credentialID: id, userHandle: Hex.decode(tokens.userID))
        edit(&authenticator)
        let answer = try await add(
            authenticator.register(try await challenge(for: tokens.access)), tokens.access, name: name)
        #expect(answer.status == 201, "\(answer.text)")
        return authenticator
    }

    /// Sends an assertion.
    func logIn(
        _ credential: [String: JSONValue], device: String = "phone-2", key: String? = nil,
        more: [String: JSONValue] = [:]
    ) async throws -> Answer {
        var body = more
        body["passkey"] = .object(credential)
        body["device"] = .object(["id": .string(device)])
        var fields = Fields()
        if let key { fields.append("Idempotency-Key", key) }
        return await call(
            .post, "/v1/login", JSONValue.object(body).compactText ?? "", fields: fields)
    }

    /// Logs in by an authenticator, with a new challenge.
    func logIn(by authenticator: SoftAuthenticator, device: String = "phone-2") async throws -> Answer {
        try await logIn(authenticator.assert(try await challenge()), device: device)
    }

    /// The audit events of a user about passkeys, the oldest first: kind and reason.
    func passkeyEvents(of userID: String) async -> [String] {
        await admin(.get, "/admin/v1/events?user=\(userID)&limit=200").items
            .filter { $0.string("event")?.hasPrefix("passkey") == true }
            .map { "\($0.string("event") ?? "") \($0.string("reason") ?? "")" }
    }
}
