internal import HTTP
public import Sessions

/// Makes a link by which a user sets a new password, once.
public struct MakeResetLink: AdminAct {
    /// See `AdminAct`.
    public static let scope = AdminKey.Scope.users

    /// The user.
    public var user: ActSubject

    /// The act on a user.
    public init(_ user: ActSubject) { self.user = user }

    /// See `AdminAct`.
    public var call: AdminCall { AdminCall(.post, user.path(in: "users", "/password-reset")) }

    /// See `AdminAct`.
    public var words: [String]? { ["user", "reset-password"] + Shell.operands(user.word) }
}
