import Foundation

/// The options of a ceremony, as the server gives them: the member `publicKey` of the answer.
package struct PasskeyOptions: Hashable, Sendable {
    private let members: [String: JSONValue]
    private let challenge: Data

    package init(_ answer: HTTPAnswer) throws(SojournError) {
        guard let members = JSONValue(parsing: answer.body)?.members?["publicKey"]?.members,
            let challenge = members.text("challenge").flatMap(Self.bytes)
        else { throw .unreachable(Unreachable("not an answer of the server", status: answer.status)) }
        (self.members, self.challenge) = (members, challenge)
    }

    /// The request for a signature.
    package var assertionRequest: PasskeyAssertionRequest {
        PasskeyAssertionRequest(
            relyingParty: members.text("rpId") ?? "", challenge: challenge,
            allowedCredentials: credentials("allowCredentials"))
    }

    /// The request for a new passkey.
    package var registrationRequest: PasskeyRegistrationRequest {
        get throws(SojournError) {
            guard let user = members["user"]?.members, let userID = user.text("id").flatMap(Self.bytes),
                let relyingParty = members["rp"]?.members?.text("id")
            else { throw .unreachable(Unreachable("not the options of a registration", status: 200)) }
            return PasskeyRegistrationRequest(
                relyingParty: relyingParty, challenge: challenge, userID: userID, userName: user.text("name") ?? "",
                excludedCredentials: credentials("excludeCredentials"))
        }
    }

    private func credentials(_ name: String) -> [Data] {
        members[name]?.elements?.compactMap { $0.members?.text("id").flatMap(Self.bytes) } ?? []
    }

    private static func bytes(_ text: String) -> Data? { Base64URL.decode(text).map { Data($0) } }

    /// A credential as JSON.
    static func credential(_ id: Data, _ response: [String: Data]) -> [String: JSONValue] {
        let id = JSONValue.string(Base64URL.encode(Array(id)))
        return [
            "id": id, "rawId": id, "type": .string("public-key"), "clientExtensionResults": .object([:]),
            "response": .object(response.mapValues { .string(Base64URL.encode(Array($0))) }),
        ]
    }
}

extension Passkey {
    package init?(_ value: JSONValue) {
        guard let members = value.members, let id = members.text("id") else { return nil }
        self.init(
            id: id, name: members.text("name") ?? "", isBackedUp: members["backed_up"]?.bool ?? false,
            createdAt: members.integer("created_at") ?? 0, lastUsedAt: members.integer("last_used_at"))
    }
}
