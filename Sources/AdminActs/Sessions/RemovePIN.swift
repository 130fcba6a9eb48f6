internal import HTTP
public import Sessions

/// Removes the PIN of a session, which goes on.
public struct RemovePIN: AdminAct {
    /// See `AdminAct`.
    public static let scope = AdminKey.Scope.support

    /// The session.
    public var session: ActSubject

    /// The act on it.
    public init(_ session: ActSubject) { self.session = session }

    /// See `AdminAct`.
    public var call: AdminCall { AdminCall(.delete, session.path(in: "sessions", "/pin")) }

    /// See `AdminAct`.
    public var words: [String]? { ["session", "remove-pin"] + Shell.operands(session.word) }
}
