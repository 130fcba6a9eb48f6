internal import HTTP
internal import JSON
public import Sessions

/// Makes a link by which a user sets a new password, once.
public struct MakeResetLink: AdminAct {
    /// See `AdminAct`.
    public static let scope = AdminKey.Scope.users

    /// The user.
    public var user: ActSubject
    /// Whether the link is mailed to the user, and shown to no admin.
    public var isSent = false

    /// The act on a user.
    public init(_ user: ActSubject) { self.user = user }

    /// See `AdminAct`.
    public var call: AdminCall {
        AdminCall(.post, user.path(in: "users", "/password-reset"), isSent ? ["send": .bool(true)] : nil)
    }

    /// See `AdminAct`.
    public var words: [String]? {
        ["user", "reset-password"] + (isSent ? ["--send"] : []) + Shell.operands(user.word)
    }
}
