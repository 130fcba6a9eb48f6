/// A login, and the client that gets its session.
public struct ClientLogin: Hashable, Sendable {
    /// The login.
    public let id: Identifier<Session>
    /// Its client.
    public let clientID: String

    /// The login of that client.
    public init(id: Identifier<Session>, clientID: String) { (self.id, self.clientID) = (id, clientID) }
}
