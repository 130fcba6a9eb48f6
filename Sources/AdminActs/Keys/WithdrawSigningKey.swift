internal import HTTP
public import Sessions

/// Withdraws a signing key. Its tokens are refused from then on.
public struct WithdrawSigningKey: AdminAct {
    /// See `AdminAct`.
    public static let scope = AdminKey.Scope.owner

    /// The signing key.
    public var key: ActSubject

    /// The act on it.
    public init(_ key: ActSubject) { self.key = key }

    /// See `AdminAct`.
    public var call: AdminCall { AdminCall(.delete, key.path(in: "keys")) }

    /// See `AdminAct`.
    public var words: [String]? { ["key", "withdraw"] + Shell.operands(key.word) }
}
