internal import HTTP
public import Sessions

/// Accepts the passwords of a user again, however many were wrong.
public struct UnlockUser: AdminAct {
    /// See `AdminAct`.
    public static let scope = AdminKey.Scope.support

    /// The user.
    public var user: ActSubject

    /// The act on a user.
    public init(_ user: ActSubject) { self.user = user }

    /// See `AdminAct`.
    public var call: AdminCall { AdminCall(.post, user.path(in: "users", "/unlock")) }

    /// See `AdminAct`.
    public var words: [String]? { ["user", "unlock"] + Shell.operands(user.word) }
}
