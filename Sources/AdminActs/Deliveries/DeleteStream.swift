internal import HTTP
public import Sessions

/// Deletes a stream of security events, and what waits in it.
public struct DeleteStream: AdminAct {
    /// See `AdminAct`.
    public static let scope = AdminKey.Scope.owner

    /// The client that receives the stream.
    public var client: ActSubject

    /// The act on it.
    public init(_ client: ActSubject) { self.client = client }

    /// See `AdminAct`.
    public var call: AdminCall { AdminCall(.delete, client.path(in: "event-streams")) }

    /// See `AdminAct`.
    public var words: [String]? { ["event-stream", "delete"] + Shell.operands(client.word) }
}
