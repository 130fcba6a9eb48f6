internal import HTTP
public import Sessions

/// Ends every session of a user.
public struct EndUserSessions: AdminAct {
    /// See `AdminAct`.
    public static let scope = AdminKey.Scope.support

    /// The user.
    public var user: ActSubject

    /// The act on a user.
    public init(_ user: ActSubject) { self.user = user }

    /// See `AdminAct`.
    public var call: AdminCall { AdminCall(.post, user.path(in: "users", "/revoke")) }

    /// See `AdminAct`.
    public var words: [String]? { ["user", "revoke"] + Shell.operands(user.word) }
}
