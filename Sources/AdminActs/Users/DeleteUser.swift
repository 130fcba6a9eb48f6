internal import HTTP
public import Sessions

/// Deletes a user, and ends the sessions.
public struct DeleteUser: AdminAct {
    /// See `AdminAct`.
    public static let scope = AdminKey.Scope.owner

    /// The user.
    public var user: ActSubject

    /// The act on a user.
    public init(_ user: ActSubject) { self.user = user }

    /// See `AdminAct`.
    public var call: AdminCall { AdminCall(.delete, user.path(in: "users")) }

    /// See `AdminAct`.
    public var words: [String]? { ["user", "delete"] + Shell.operands(user.word) }
}
