internal import HTTP
internal import JSON
public import Sessions

/// Makes a new secret for a client.
public struct RotateClientSecret: AdminAct {
    /// See `AdminAct`.
    public static let scope = AdminKey.Scope.owner

    /// The client.
    public var client: ActSubject
    /// For how many seconds the old secret is accepted; nil: not at all.
    public var overlap: Int64? = nil

    /// The act on a client.
    public init(_ client: ActSubject, overlap: Int64? = nil) { (self.client, self.overlap) = (client, overlap) }

    /// See `AdminAct`.
    public var call: AdminCall {
        var body: [String: JSONValue] = ["rotate_secret": .bool(true)]
        body["secret_overlap"] = overlap.map { .integer($0) }
        return AdminCall(.patch, client.path(in: "clients"), body)
    }

    /// See `AdminAct`.
    public var words: [String]? {
        let option = overlap.map { ["--secret-overlap", DurationText.text($0)] } ?? []
        return ["client", "update", "--rotate-secret"] + option + Shell.operands(client.word)
    }
}
