internal import HTTP
internal import JSON
public import Sessions

/// Refuses every login and refresh of a user.
public struct DisableUser: AdminAct {
    /// See `AdminAct`.
    public static let scope = AdminKey.Scope.support

    /// The user.
    public var user: ActSubject
    /// What becomes of access tokens.
    public var effective: User.LoginDisabling.Effective = .immediate
    /// Whether all sessions end as well.
    public var endsSessions: Bool = false
    /// A note for other admins.
    public var note: String? = nil

    /// The act on a user, with effect at once and without an end of sessions.
    public init(_ user: ActSubject) { self.user = user }

    /// See `AdminAct`.
    public var call: AdminCall {
        var body: [String: JSONValue] = [
            "effective": .string(effective.rawValue), "revoke_sessions": .bool(endsSessions),
        ]
        body["reason"] = note.map { .string($0) }
        return AdminCall(.post, user.path(in: "users", "/disable"), body)
    }

    /// See `AdminAct`.
    public var words: [String]? {
        var words = ["user", "disable"]
        if effective == .onExpiry { words.append("--on-expiry") }
        if endsSessions { words.append("--revoke") }
        if let note { words += Shell.option("--reason", note) }
        return words + Shell.operands(user.word)
    }
}
