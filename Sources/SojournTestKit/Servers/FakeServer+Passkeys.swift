import Foundation
import SojournClient

/// A passkey of a user of `FakeServer`.
struct FakePasskey {
    var userID: String
    var name: String
    var createdAt: Int64
    var lastUsedAt: Int64?
}

/// Passkeys: the parts on which the SDK relies. Challenges count once and for their ceremony; signatures are not checked.
extension FakeServer.World {
    /// The options of a ceremony `kind`: `login`, or `create` or `presence` with the session.
    ///
    /// - Parameter name: the name of a user that the ceremony makes.
    mutating func passkeyOptions(
        _ kind: String, for user: FakeServer.User? = nil, named name: String? = nil
    ) -> HTTPAnswer {
        challengeCount += 1
        let challenge = "\(kind) \(challengeCount)"
        passkeyChallenges.insert(challenge)
        var options: [String: JSONValue] = ["challenge": .string(Base64URL.encode(Array(challenge.utf8)))]
        let known = passkeys.filter { $0.value.userID == user?.id }.keys.sorted().map {
            JSONValue.object(["type": .string("public-key"), "id": .string($0)])
        }
        if let name = name ?? (kind.hasPrefix("create") ? user?.username : nil) {
            options["rp"] = .object(["id": .string("sojourn.test")])
            options["user"] = .object([
                "id": .string(Base64URL.encode(Array((user?.id ?? kind).utf8))), "name": .string(name),
            ])
            options["excludeCredentials"] = .array(known)
        } else {
            options["rpId"] = .string("sojourn.test")
            options["allowCredentials"] = .array(known)
        }
        return .json(200, ["publicKey": .object(options), "expires_in": .integer(300)])
    }

    /// Uses up the challenge of a credential. False if it is not one of this ceremony, or was used before.
    mutating func use(_ credential: [String: JSONValue], of kind: String) -> Bool {
        guard let data = credential["response"]?.members?.text("clientDataJSON").flatMap(Base64URL.decode),
            let encoded = JSONValue(parsing: data)?.members?.text("challenge"),
            let challenge = Base64URL.decode(encoded).map({ String(decoding: $0, as: UTF8.self) }),
            challenge.hasPrefix(kind + " ")
        else { return false }
        return passkeyChallenges.remove(challenge) != nil
    }

    /// `POST /v1/login` with a passkey.
    mutating func logInByPasskey(device: String, _ call: FakeCall, at now: Int64) -> HTTPAnswer {
        guard let credential = call.members["passkey"]?.members, let id = credential.text("id") else {
            return .problem(400, "invalid_request")
        }
        if let refusal = refusal(ofMethod: "passkey") { return refusal }
        guard use(credential, of: "login") else { return .problem(400, "invalid_passkey") }
        guard let passkey = passkeys[id], let user = users.values.first(where: { $0.id == passkey.userID }) else {
            return .problem(401, "invalid_credentials")
        }
        if let refusal = loginRefusal(of: user, call) { return refusal }
        passkeys[id]?.lastUsedAt = now
        let answer = begin(user, device: device, call, at: now)
        // The authenticator has verified the user: these are two factors.
        noteFactors("session\(sessionCount)", at: now)
        return answer
    }

    /// Whether a passkey shows the user of the session.
    mutating func isShown(by credential: [String: JSONValue], _ session: FakeSession) -> Bool {
        guard use(credential, of: "presence \(session.id)"), let id = credential.text("id") else { return false }
        return passkeys[id]?.userID == session.userID
    }

    /// The answer to a call below `/v1/me/passkeys`; nil for another path.
    mutating func passkeyCall(
        _ call: FakeCall, _ session: FakeSession, _ user: FakeServer.User, at now: Int64
    ) -> HTTPAnswer? {
        guard call.path.hasPrefix("/v1/me/passkeys") else { return nil }
        let id = String(call.path.dropFirst("/v1/me/passkeys/".count))
        let last = max(session.startedAt, session.shownAt.values.max() ?? 0)
        let isFresh = now - last < 300_000
        let requirement = FakePresenceRequirement(ways: ["presence", "password"], maxAge: 300)
        switch (call.method, call.path) {
        case ("GET", "/v1/me/passkeys"):
            let own = passkeys.filter { $0.value.userID == user.id }.sorted {
                ($0.value.createdAt, $0.key) < ($1.value.createdAt, $1.key)
            }
            return .json(200, ["items": .array(own.map { .object(Self.members($0.key, $0.value)) })])
        case ("POST", "/v1/me/passkeys/options"):
            return isFresh ? passkeyOptions("create \(session.id)", for: user) : requirement.problem
        case ("POST", "/v1/me/passkeys"):
            guard let credential = call.members["credential"]?.members, let id = credential.text("id") else {
                return .problem(400, "invalid_request")
            }
            if let known = passkeys[id] {
                return known.userID == user.id
                    ? .json(201, Self.members(id, known)) : .problem(409, "passkey_taken")
            }
            guard use(credential, of: "create \(session.id)") else { return .problem(400, "invalid_passkey") }
            let passkey = FakePasskey(userID: user.id, name: call.text("name") ?? "Passkey", createdAt: now)
            passkeys[id] = passkey
            return .json(201, Self.members(id, passkey))
        case ("DELETE", _):
            guard isFresh else { return requirement.problem }
            guard passkeys[id]?.userID == user.id else { return .problem(404, "not_found") }
            passkeys[id] = nil
            return HTTPAnswer(status: 204)
        default: return .problem(404, "not_found")
        }
    }

    private static func members(_ id: String, _ passkey: FakePasskey) -> [String: JSONValue] {
        var members: [String: JSONValue] = [
            "id": .string(id), "name": .string(passkey.name), "backed_up": .bool(true),
            "created_at": .integer(passkey.createdAt / 1000),
        ]
        if let time = passkey.lastUsedAt { members["last_used_at"] = .integer(time / 1000) }
        return members
    }
}
