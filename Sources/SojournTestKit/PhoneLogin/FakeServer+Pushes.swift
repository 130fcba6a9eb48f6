public import Foundation
package import SojournClient

/// Encrypted messages to phones.
extension FakeServer {
    /// The message about a login to the phone that has registered a key last, as the server makes it for the team's own sender; nil:
    /// none has.
    public func message(about login: TestLogin) async throws -> Data? {
        try await message { session, now in
            [
                "type": .string("login"), "iss": .string("https://sojourn.test"), "sid": .string(session),
                "login_id": .string(login.id),
                "login": JSONValue(parsing: Array(login.push))?.members?["login"] ?? .null,
                "iat": .integer(now), "exp": .integer(now + FakeLogin.inputSeconds),
            ]
        }
    }

    /// A message with that content to the phone that has registered a key last; nil: none has.
    package func message(
        _ content: (_ session: String, _ now: Int64) -> [String: JSONValue]
    ) async throws -> Data? {
        let (now, found) = (self.now / 1000, state.withLock { $0.world.lastEncrypting })
        guard let found, let key = found.encryptionKey else { return nil }
        let sender = try await SoftwareKeys.temporary().makeKey(.encryption)
        let bytes = JSONValue.object(content(found.id, now)).bytes
        return Data(try await EncryptedMessage.seal(bytes, to: key, from: sender).utf8)
    }
}

extension FakeServer.World {
    /// `PUT /v1/me/encryption-key`.
    mutating func setEncryptionKey(_ call: FakeCall, _ session: FakeSession) -> HTTPAnswer {
        guard let members = call.members["encryption_key"]?.members, members.text("kty") == "EC",
            members.text("crv") == "P-256", members.text("use") == "enc",
            let x = members.text("x").flatMap(Base64URL.decode), x.count == 32,
            let y = members.text("y").flatMap(Base64URL.decode), y.count == 32
        else { return .problem(400, "invalid_request") }
        let key = PublicJWK(curve: .p256, x: x, y: y)
        sessions[session.id]?.encryptionKey = key
        return .json(200, ["kid": .string(key.thumbprint)])
    }

    /// The living session with a key that began last.
    fileprivate var lastEncrypting: FakeSession? {
        sessions.values.filter { $0.encryptionKey != nil && $0.ending == nil }
            .max { ($0.startedAt, $0.id) < ($1.startedAt, $1.id) }
    }
}
