internal import HTTP
public import JSON
public import Sessions

/// Makes a user without a password.
public struct CreateUser: AdminAct {
    /// See `AdminAct`.
    public static let scope = AdminKey.Scope.users

    /// The username.
    public var username: String
    /// The other members.
    public var members: [String: JSONValue]

    /// A user with that name and those members.
    public init(_ username: String, _ members: [String: JSONValue]) {
        (self.username, self.members) = (username, members)
    }

    /// See `AdminAct`.
    public var call: AdminCall {
        AdminCall(.post, "/users", members.merging(["username": .string(username)]) { $1 })
    }

    /// See `AdminAct`.
    public var words: [String]? {
        UserOption.words(members).map { ["user", "create", "--no-password"] + $0 + Shell.operands(username) }
    }
}
