internal import HTTP
public import Sessions

/// Deletes an admin key, which is refused from then on.
public struct DeleteAdminKey: AdminAct {
    /// See `AdminAct`.
    public static let scope = AdminKey.Scope.owner

    /// The admin key.
    public var key: ActSubject

    /// The act on it.
    public init(_ key: ActSubject) { self.key = key }

    /// See `AdminAct`.
    public var call: AdminCall { AdminCall(.delete, key.path(in: "admin-keys")) }

    /// See `AdminAct`.
    public var words: [String]? { ["admin-key", "delete"] + Shell.operands(key.word) }
}
