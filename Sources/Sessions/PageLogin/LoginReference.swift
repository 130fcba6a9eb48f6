/// A login, and the client that gets its session.
public struct LoginReference: Hashable, Sendable {
    /// The login.
    public let id: Identifier<Session>
    /// Its session.
    public let sessionID: Identifier<Session>
    /// Its client.
    public let clientID: String

    /// The login of that client, with a session of the same id unless `sessionID` names another.
    public init(id: Identifier<Session>, sessionID: Identifier<Session>? = nil, clientID: String) {
        (self.id, self.sessionID, self.clientID) = (id, sessionID ?? id, clientID)
    }
}
