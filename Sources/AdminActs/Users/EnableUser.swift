internal import HTTP
internal import JSON
public import Sessions

/// Lets a user log in and refresh again.
public struct EnableUser: AdminAct {
    /// See `AdminAct`.
    public static let scope = AdminKey.Scope.support

    /// The user.
    public var user: ActSubject
    /// Whether the user's own switch is reset as well.
    public var includesOwnSwitch: Bool = false

    /// The act on a user.
    public init(_ user: ActSubject) { self.user = user }

    /// See `AdminAct`.
    public var call: AdminCall {
        AdminCall(
            .post, user.path(in: "users", "/enable"), ["include_own_switch": .bool(includesOwnSwitch)])
    }

    /// See `AdminAct`.
    public var words: [String]? {
        ["user", "enable"] + (includesOwnSwitch ? ["--include-own"] : []) + Shell.operands(user.word)
    }
}
