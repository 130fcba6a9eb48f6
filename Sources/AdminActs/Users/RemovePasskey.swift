internal import HTTP
public import Sessions

/// Removes a passkey of a user. The sessions of the user go on.
public struct RemovePasskey: AdminAct {
    /// See `AdminAct`.
    public static let scope = AdminKey.Scope.owner

    /// The user.
    public var user: ActSubject
    /// The credential ID, in base64url.
    public var passkey: String

    /// The act on a passkey of a user.
    public init(_ passkey: String, of user: ActSubject) { (self.passkey, self.user) = (passkey, user) }

    /// See `AdminAct`.
    public var call: AdminCall {
        AdminCall(.delete, user.path(in: "users", "/passkeys?id=\(PercentEncoding.encode(passkey))"))
    }

    /// See `AdminAct`.
    public var words: [String]? { ["passkey", "delete"] + Shell.operands(user.word, passkey) }
}
