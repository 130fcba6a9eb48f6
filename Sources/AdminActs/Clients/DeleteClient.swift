internal import HTTP
public import Sessions

/// Deletes a client, and ends all its sessions.
public struct DeleteClient: AdminAct {
    /// See `AdminAct`.
    public static let scope = AdminKey.Scope.owner

    /// The client.
    public var client: ActSubject

    /// The act on it.
    public init(_ client: ActSubject) { self.client = client }

    /// See `AdminAct`.
    public var call: AdminCall { AdminCall(.delete, client.path(in: "clients")) }

    /// See `AdminAct`.
    public var words: [String]? { ["client", "delete", "--yes"] + Shell.operands(client.word) }
}
