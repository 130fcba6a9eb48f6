internal import HTTP
public import JSON
public import Sessions

/// Changes members of a client.
public struct EditClient: AdminAct {
    /// See `AdminAct`.
    public static let scope = AdminKey.Scope.owner

    /// The client.
    public var client: ActSubject
    /// The members that change.
    public var members: [String: JSONValue]

    /// The act on a client.
    public init(_ client: ActSubject, _ members: [String: JSONValue]) {
        (self.client, self.members) = (client, members)
    }

    /// See `AdminAct`.
    public var call: AdminCall { AdminCall(.patch, client.path(in: "clients"), members) }

    /// See `AdminAct`.
    public var words: [String]? { ClientOption.words("update", client.word, members) }

    /// See `AdminAct`.
    public var input: String? { ClientOption.input(members) }
}
