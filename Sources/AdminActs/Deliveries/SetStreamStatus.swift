internal import HTTP
internal import JSON
public import Sessions

/// Sets the status of a stream of security events.
public struct SetStreamStatus: AdminAct {
    /// See `AdminAct`.
    public static let scope = AdminKey.Scope.owner

    /// The client that receives the stream.
    public var client: ActSubject
    /// The new status.
    public var status: EventStream.Status
    /// Why, which the receiver sees.
    public var reason: String? = nil

    /// The act on the stream of a client.
    public init(of client: ActSubject, to status: EventStream.Status) { (self.client, self.status) = (client, status) }

    /// See `AdminAct`.
    public var call: AdminCall {
        var body: [String: JSONValue] = ["status": .string(status.rawValue)]
        body["reason"] = reason.map { .string($0) }
        return AdminCall(.patch, client.path(in: "event-streams"), body)
    }

    /// See `AdminAct`.
    public var words: [String]? {
        ["event-stream", "set", "--status", status.rawValue] + (reason.map { Shell.option("--reason", $0) } ?? [])
            + Shell.operands(client.word)
    }
}
