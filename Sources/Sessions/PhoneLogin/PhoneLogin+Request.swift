internal import FoundationEssentials
internal import JSON

extension PhoneLogin {
    /// Whether the user has to prove presence beside the confirmation.
    public enum FactorRule: String, CaseIterable, Codable, Sendable {
        case required
        case notRequired = "not_required"
    }

    /// What the client has asked for, and how the login is found. A row has it as one JSON, without what the login is found by.
    public struct Request: Codable, Hashable, Sendable {
        /// The scope; nil: all that the client can be granted.
        public var scope: Scope?
        /// The APIs of the tokens (RFC 8707).
        public var resources: [String] = []
        /// What the user sees before the approval: a JSON object of a confidential client or an admin, at most `infoLengthMax`
        /// bytes, or a JSON string of a public client, with a plain text of `quoteLengthMax` scalars at most.
        public var announceInfo: String?
        /// What the user sees after the login, likewise.
        public var sessionInfo: String?
        /// The network address of the device.
        public var remoteAddress: String?
        /// The `User-Agent` of the device.
        public var userAgent: String?
        /// The rule that the client has set for this login; nil: that of the phone's session.
        public var factorRule: FactorRule?
        /// The users that let the device in before by phone, as it has proved. For every other user it is unknown, and takes a
        /// second factor.
        public var knownUsers: [Identifier<User>] = []
        /// The key that the device has proved to have. It alone comes for the session; nil: it has proved none.
        public var keyThumbprint: String?
        /// Where the phone leads the user after an approval by a link: a redirect URI of the client; nil: there is no link.
        public var returnURI: String?
        /// The authorization request that the login answers; nil for logins that begin elsewhere than on the page.
        public var authorization: AuthorizationRequest?
        /// The account that an enrolment makes, or to which it adds a device; nil for every other kind.
        public var invitation: Invitation?
        /// What a backend asks of one user; nil for every kind but `backchannel`.
        public var backchannel: BackchannelRequest?

        /// The epoch of the settings: a "revoke all" cancels the login.
        public var epoch: Int64 = 0
        /// The random bytes in the codes; nil: it has none.
        public var handle: [UInt8]?
        /// The letters that the user can type; nil: none.
        public var userCode: String?
        /// SHA-256 of the secret with which the device asks for the result; nil: it has none.
        public var pollHash: [UInt8]?

        /// A further member is optional, because rows that lack it are read.
        enum CodingKeys: String, CodingKey {
            case scope, resources
            case announceInfo = "announce_info"
            case sessionInfo = "session_info"
            case remoteAddress = "remote_address"
            case userAgent = "user_agent"
            case factorRule = "second_factor"
            case knownUsers = "known_users"
            case keyThumbprint = "dpop_jkt"
            case returnURI = "return_uri"
            case authorization, invitation, backchannel
        }

        /// The longest `announceInfo` or `sessionInfo`, in bytes.
        public static let infoLengthMax = 2048
        /// The longest text of a public client, which anyone can have written, in Unicode scalars.
        public static let quoteLengthMax = 200

        /// A request for all that the client can be granted.
        public init() {}

        /// The request as JSON.
        public var json: [UInt8] { JSONText.compact(self) ?? [] }

        /// The request that `json` wrote; nil for anything else.
        public init?(json: [UInt8]) {
            guard let request = try? JSONDecoder().decode(Self.self, from: Data(json)), request.namesKnownUsers else {
                return nil
            }
            self = request
        }

        /// Whether each user in it is named by an id.
        private var namesKnownUsers: Bool {
            [backchannel?.user, invitation?.user].allSatisfy { $0.map { Identifier<User>($0) != nil } ?? true }
        }

        /// The user that the request names before a phone has claimed it; nil: it names none.
        public var namedUser: Identifier<User>? { backchannel?.userID ?? invitation?.userID }
    }
}
