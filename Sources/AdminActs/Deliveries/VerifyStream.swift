internal import HTTP
public import Sessions

/// Lets a stream of security events carry a verification event.
public struct VerifyStream: AdminAct {
    /// See `AdminAct`.
    public static let scope = AdminKey.Scope.support

    /// The client that receives the stream.
    public var client: ActSubject

    /// The act on it.
    public init(_ client: ActSubject) { self.client = client }

    /// See `AdminAct`.
    public var call: AdminCall { AdminCall(.post, client.path(in: "event-streams", "/verify")) }

    /// See `AdminAct`.
    public var words: [String]? { ["event-stream", "verify"] + Shell.operands(client.word) }
}
