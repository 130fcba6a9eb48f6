public import Sessions

/// Which rolling tokens are over by a revocation, in the words of the tokens themselves: what the feed and the webhooks say of it.
public struct RevocationWords: Encodable, Hashable, Sendable {
    private let type: String
    /// Unix seconds, as all times in tokens are.
    private let at: Int64
    private let until: Int64
    private let sid: String?
    private let sub: String?
    private let clientID: String?

    /// The words for `revocation`; of `sid`, `sub` and `client_id` those that it names.
    public init(_ revocation: Revocation) {
        type = revocation.kind.rawValue
        (at, until) = (revocation.at.secondsSinceEpoch, revocation.until.secondsSinceEpoch)
        (sid, sub) = (revocation.sessionID?.description, revocation.userID?.description)
        clientID = revocation.clientID
    }

    private enum CodingKeys: String, CodingKey {
        case type, at, until, sid, sub
        case clientID = "client_id"
    }
}
