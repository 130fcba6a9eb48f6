internal import HTTP
public import JSON
public import Sessions

/// Makes a client.
public struct CreateClient: AdminAct {
    /// See `AdminAct`.
    public static let scope = AdminKey.Scope.owner

    /// The client.
    public var client: ActSubject
    /// The members that differ from the defaults.
    public var members: [String: JSONValue]

    /// The act on a client.
    public init(_ client: ActSubject, _ members: [String: JSONValue]) {
        (self.client, self.members) = (client, members)
    }

    /// See `AdminAct`.
    public var call: AdminCall {
        AdminCall(.post, "/clients", members.merging(["client_id": .string(client.word)]) { $1 })
    }

    /// See `AdminAct`.
    public var words: [String]? { ClientOption.words("create", client.word, members) }

    /// See `AdminAct`.
    public var input: String? { ClientOption.input(members) }
}
