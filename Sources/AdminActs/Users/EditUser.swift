internal import HTTP
public import JSON
public import Sessions

/// Changes the profile of a user, and what admins decide about the user beside.
public struct EditUser: AdminAct {
    /// See `AdminAct`.
    public static let scope = AdminKey.Scope.users

    /// The user.
    public var user: ActSubject
    /// The members that change.
    public var members: [String: JSONValue]

    /// The act on a user.
    public init(_ user: ActSubject, _ members: [String: JSONValue]) { (self.user, self.members) = (user, members) }

    /// See `AdminAct`.
    public var call: AdminCall { AdminCall(.patch, user.path(in: "users"), members) }

    /// See `AdminAct`.
    public var words: [String]? {
        // A shorter life may end sessions, which the command asks about and the form does not.
        let yes = members[UserOption.maximum] == nil ? [] : ["--yes"]
        return UserOption.words(members).map { ["user", "update"] + yes + $0 + Shell.operands(user.word) }
    }
}
