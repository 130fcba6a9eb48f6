import SojournClient

/// The PIN of a session in `FakeServer`. Times are milliseconds since 1970.
struct FakePIN {
    static let wrongMax = 3

    var mac: String
    /// That of the PIN by which this one was set; nil: it was set by another proof.
    var replacedMAC: String?
    var wrongCount = 0
    var createdAt: Int64
    var changedAt: Int64

    var attemptsLeft: Int { max(Self.wrongMax - wrongCount, 0) }

    /// Why another MAC does not prove the PIN; nil: it does. A wrong one is counted.
    mutating func refusal(of other: String) -> FakeLogin.Refused? {
        if attemptsLeft > 0, other == mac { return nil }
        wrongCount += attemptsLeft > 0 ? 1 : 0
        return FakeLogin.Refused(attemptsLeft == 0 ? "pin_locked" : "wrong_pin", left: attemptsLeft)
    }

    /// The PIN as its user sees it.
    var members: [String: JSONValue] {
        [
            "created_at": .integer(createdAt / 1000), "changed_at": .integer(changedAt / 1000),
            "attempts_left": .integer(Int64(attemptsLeft)), "locked": .bool(attemptsLeft == 0),
        ]
    }
}

extension FakeServer.World {
    /// `PUT /v1/me/pin`.
    mutating func setPIN(
        _ call: FakeCall, _ session: FakeSession, _ user: FakeServer.User, at now: Int64
    ) -> HTTPAnswer {
        guard let mac = call.mac("pin"), (call.text("old_pin") == nil) != call.presenceProofs.isEmpty else {
            return .problem(400, "invalid_request")
        }
        if call.text("old_pin") != nil {
            guard let old = call.mac("old_pin") else { return .problem(400, "invalid_request") }
            if let known = session.pin, known.attemptsLeft > 0, (known.replacedMAC, known.mac) == (old, mac) {
                // The change by which the PIN was set, sent again.
                return .json(200, known.members)
            }
            if let refused = refusal(ofPIN: old, session.id) { return refused.answer }
        } else {
            switch evidence(in: call, of: user, session, at: now) {
            case .wrongPassword: return .problem(401, "invalid_credentials")
            case .none: return asked(["presence", "password", "id_token"], 300, session, user).problem
            case .shown: break
            }
        }
        let new = FakePIN(
            mac: mac, replacedMAC: call.mac("old_pin"), createdAt: session.pin?.createdAt ?? now, changedAt: now)
        sessions[session.id]?.pin = new
        return .json(200, new.members)
    }

    /// Compares a PIN with that of a session, and counts a wrong one.
    mutating func refusal(ofPIN mac: String, _ sessionID: String) -> FakeLogin.Refused? {
        guard var pin = sessions[sessionID]?.pin else { return FakeLogin.Refused("pin_not_set") }
        let refused = pin.refusal(of: mac)
        sessions[sessionID]?.pin = pin
        return refused
    }
}

extension FakeCall {
    /// The members that prove presence.
    var presenceProofs: [String] {
        ["user_assertion", "password", "id_token", "passkey"].filter { members[$0] != nil }
    }

    /// The MAC of a PIN in a member; nil for anything else.
    func mac(_ name: String) -> String? {
        text(name).flatMap { Base64URL.decode($0)?.count == 32 ? $0 : nil }
    }
}
