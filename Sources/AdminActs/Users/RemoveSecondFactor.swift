internal import HTTP
public import Sessions

/// Removes an authenticator of a user, or every one with the recovery codes. The sessions of the user go on.
public struct RemoveSecondFactor: AdminAct {
    /// See `AdminAct`.
    public static let scope = AdminKey.Scope.owner

    /// The user.
    public var user: ActSubject
    /// The id of the authenticator; nil: every one.
    public var factor: String?

    /// The act on an authenticator of a user.
    public init(_ factor: String?, of user: ActSubject) { (self.factor, self.user) = (factor, user) }

    /// See `AdminAct`.
    public var call: AdminCall {
        let query = factor.map { "?id=\(PercentEncoding.encode($0))" } ?? ""
        return AdminCall(.delete, user.path(in: "users", "/second-factors\(query)"))
    }

    /// See `AdminAct`.
    public var words: [String]? {
        let operands = factor.map { Shell.operands(user.word, $0) } ?? Shell.operands(user.word)
        return ["user", "factor", "remove"] + (factor == nil ? ["--all"] : []) + operands
    }
}
