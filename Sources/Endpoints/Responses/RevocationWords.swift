public import Sessions

/// The access tokens that a revocation invalidates, described by claims of the tokens. The revocation feed and the webhooks
/// share these members.
public struct RevocationWords: Encodable, Hashable, Sendable {
    private let type: String
    /// Unix seconds, as in the claims of tokens.
    private let at: Int64
    private let until: Int64
    private let sid: String?
    private let sub: String?
    private let clientID: String?
    private let jti: String?
    private let epoch: Int64?

    /// Describes `revocation`, with those of `sid`, `sub`, `client_id`, `jti` and `epoch` that it names.
    public init(_ revocation: Revocation) {
        type = revocation.kind.rawValue
        (at, until) = (revocation.at.secondsSinceEpoch, revocation.until.secondsSinceEpoch)
        (sid, sub) = (revocation.sessionID?.description, revocation.userID?.description)
        clientID = revocation.clientID
        (jti, epoch) = (revocation.tokenID, revocation.tokenEpoch)
    }

    private enum CodingKeys: String, CodingKey {
        case type, at, until, sid, sub, jti, epoch
        case clientID = "client_id"
    }
}
