internal import HTTP
public import Sessions

/// Ends a login with a phone, and the session that came of it.
public struct PhoneLoginEnding: AdminAct {
    /// See `AdminAct`.
    public static let scope = AdminKey.Scope.support

    /// The login.
    public var login: ActSubject

    /// The act on it.
    public init(_ login: ActSubject) { self.login = login }

    /// See `AdminAct`.
    public var call: AdminCall { AdminCall(.delete, login.path(in: "logins")) }

    /// See `AdminAct`.
    public var words: [String]? { ["login", "end"] + Shell.operands(login.word) }
}
