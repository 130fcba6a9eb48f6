internal import HTTP
public import Sessions

/// Ends one session.
public struct EndSession: AdminAct {
    /// See `AdminAct`.
    public static let scope = AdminKey.Scope.support

    /// The session.
    public var session: ActSubject

    /// The act on it.
    public init(_ session: ActSubject) { self.session = session }

    /// See `AdminAct`.
    public var call: AdminCall { AdminCall(.delete, session.path(in: "sessions")) }

    /// See `AdminAct`.
    public var words: [String]? { ["session", "end"] + Shell.operands(session.word) }
}
