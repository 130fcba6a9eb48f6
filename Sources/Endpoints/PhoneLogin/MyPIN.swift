internal import Cryptography
internal import HTTP
internal import Sessions

/// The calls of an app about the PIN by which its user approves logins.
extension Endpoints {
    /// `GET /v1/me/pin`: when the PIN was set, and how many wrong ones are left.
    func showPIN(_ call: Call, _ session: AuthenticatedSession) async throws -> Response {
        try .json(PINAnswer(try await services.accounts.pin(in: session)))
    }

    /// `PUT /v1/me/pin` `{pin}` with `old_pin`, or with a proof of presence: sets the PIN, or another one in its place.
    func setPIN(_ call: Call, _ session: AuthenticatedSession) async throws -> Response {
        let members = try Members(call, known: ["pin", "old_pin", "passkey"] + Members.evidenceNames)
        guard let pin = try members.pin("pin") else { throw members.refused("pin", "is missing") }
        let (old, evidence) = (try members.pin("old_pin"), try evidence(members))
        guard old == nil || evidence.isEmpty else {
            throw members.refused("old_pin", "stands beside no other proof")
        }
        guard old != nil || !evidence.isEmpty else {
            throw members.refused("old_pin", "or user_assertion or password or passkey or id_token is missing")
        }
        let permission = old.map { AccountService.PINPermission.pin($0) } ?? .evidence(evidence)
        let set = try await verifying(evidence, in: session, call) { () async throws(ServiceError) in
            try await services.accounts.setPIN(pin, by: permission, in: session, from: call.origin)
        }
        return try .json(PINAnswer(set))
    }

    /// `DELETE /v1/me/pin`: removes the PIN. The call is idempotent.
    func removePIN(_ call: Call, _ session: AuthenticatedSession) async throws -> Response {
        try await services.accounts.removePIN(in: session, from: call.origin)
        return .noContent
    }

    /// `DELETE /admin/v1/sessions/{session_id}/pin`: removes the PIN of a session. The call is idempotent.
    func removePINOfSession(_ call: Call) async throws -> Response {
        try await services.administration.removePIN(of: try call.sessionID(), by: call.origin)
        return .noContent
    }
}

extension Members {
    /// Reads what a device sends for a PIN; nil when the member is absent.
    func pin(_ name: String) throws -> PIN.MAC? {
        guard let text = try string(name) else { return nil }
        guard let mac = Base64URL.decode(text).flatMap({ PIN.MAC($0) }) else {
            throw refused(name, "must be the MAC of the PIN: \(PIN.MAC.byteCount) bytes in base64url")
        }
        return mac
    }
}

/// A PIN as JSON, without what could test one.
struct PINAnswer: Encodable {
    let createdAt: Int64
    let changedAt: Int64
    let attemptsLeft: Int
    let locked: Bool

    init(_ pin: PIN) {
        createdAt = pin.createdAt.secondsSinceEpoch
        changedAt = pin.changedAt.secondsSinceEpoch
        attemptsLeft = pin.attemptsLeft
        locked = pin.isLocked
    }

    enum CodingKeys: String, CodingKey {
        case createdAt = "created_at"
        case changedAt = "changed_at"
        case attemptsLeft = "attempts_left"
        case locked
    }
}

extension Route {
    static let showPIN = Route(
        .get, "/v1/me/pin", onProbation: false, .user { try await $0.showPIN($1, $2) },
        Operation(
            "show_my_pin", .logins, "Show the PIN of this session",
            "When it was set, and how many wrong ones are left. 404 without a PIN.",
            answers: [.json("PIN", "The PIN.")], errors: [.notFound]))

    static let setPIN = Route(
        .put, "/v1/me/pin", onProbation: false, .user(.account) { try await $0.setPIN($1, $2) },
        Operation(
            "set_my_pin", .logins, "Set the PIN of this session",
            """
            Takes a proof of presence or the old PIN. A proof also opens a locked PIN. Wrong old PINs count with \
            those of logins: the third one in a row locks the PIN.
            """,
            takes: .json("PINChange"), answers: [.json("PIN", "The PIN.")],
            errors: [.wrongPasswordOrToken, .pinForbidden, .loginConflict, .preconditionFailed, .tooManyRequests]))

    static let removePIN = Route(
        .delete, "/v1/me/pin", onProbation: false, .user { try await $0.removePIN($1, $2) },
        Operation(
            "remove_my_pin", .logins, "Remove the PIN of this session",
            "A repeated call is no error.",
            answers: [.empty("There is no PIN.")]))

    static let removePINOfSession = Route(
        .delete, "/admin/v1/sessions/{session_id}/pin", on: .admin,
        .admin(.support) { try await $0.removePINOfSession($1) },
        Operation(
            "remove_pin_of_session", .sessions, "Remove the PIN of a session",
            "The session goes on. A repeated call is no error.",
            answers: [.empty("There is no PIN.")]))
}
