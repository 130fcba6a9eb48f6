internal import HTTP
internal import JSON
public import Sessions

/// Decides whether policies of second factors apply to a user.
public struct RequireSecondFactor: AdminAct {
    /// See `AdminAct`.
    public static let scope = AdminKey.Scope.owner

    /// The word for no decision: as settings and client say.
    public static let inherit = "inherit"

    /// The user.
    public var user: ActSubject
    /// The decision; nil: as settings and client say.
    public var requirement: UserDetails.SecondFactorRequirement?
    /// Whether sessions that do not meet it go on.
    public var keepsSessions = false

    /// The act on a user.
    public init(_ requirement: UserDetails.SecondFactorRequirement?, of user: ActSubject) {
        (self.requirement, self.user) = (requirement, user)
    }

    /// See `AdminAct`.
    public var call: AdminCall {
        AdminCall(
            .put, user.path(in: "users", "/second-factor"),
            [
                "second_factor": requirement.map { .string($0.rawValue) } ?? .null,
                "keep_sessions": .bool(keepsSessions),
            ])
    }

    /// See `AdminAct`.
    public var words: [String]? {
        ["user", "second-factor"] + (keepsSessions ? ["--keep-sessions"] : [])
            + Shell.operands(user.word, requirement?.rawValue ?? Self.inherit)
    }
}
