public import JSON

/// The members of a user, of the settings or of a client to which a change gave other values, as the audit trail records them.
/// Of a user `email_changed` has the e-mail address, and the values are erased with the user; of a client only the lifetimes
/// and the origins are recorded.
public struct ValueDifference: Hashable, Sendable {
    /// The old and the new value of a member; null if there was none, or is none.
    public struct Values: Hashable, Sendable {
        /// The old value.
        public let old: JSONValue
        /// The new value.
        public let new: JSONValue
    }

    /// The values by the name that the member has in the admin API.
    public let members: [String: Values]

    private typealias Member<Owner> = (name: String, value: @Sendable (Owner) -> JSONValue)

    private init?<Owner>(_ all: [Member<Owner>], _ old: Owner, _ new: Owner) {
        var members: [String: Values] = [:]
        for (name, value) in all where value(old) != value(new) {
            members[name] = Values(old: value(old), new: value(new))
        }
        if members.isEmpty { return nil }
        self.members = members
    }

    /// The difference between two states of a user; nil if no member differs.
    public init?(from old: User, to new: User) { self.init(Self.ofUsers, old, new) }

    /// The difference between two states of the settings; nil if no member differs.
    init?(from old: SessionSettings, to new: SessionSettings) { self.init(Self.ofSettings, old, new) }

    /// The difference between two brandings; nil if no member differs.
    init?(from old: Branding, to new: Branding) { self.init(Self.ofBrandings, old, new) }

    /// The difference between the lifetimes and origins of two states of a client; nil if none differs.
    init?(from old: Client, to new: Client) { self.init(Self.ofClients, old, new) }

    /// Parses the `reason` of an audit event; nil if it is not of this form.
    public init?(reason: String) {
        guard let object = try? StrictJSON.object(Array(reason.utf8)), !object.isEmpty else { return nil }
        var members: [String: Values] = [:]
        for (name, pair) in object {
            guard pair.elements.count == 2 else { return nil }
            members[name] = Values(old: pair.elements[0], new: pair.elements[1])
        }
        self.members = members
    }

    /// `{"MEMBER":[OLD,NEW]}`
    public var reason: String? {
        JSONValue.object(members.mapValues { .array([$0.old, $0.new]) }).compactText
    }

    private static let ofUsers: [Member<User>] = [
        ("username", { .string($0.username) }),
        ("email_verified", { .bool($0.profile.isEmailVerified) }),
        ("phone_number", { text($0.profile.phoneNumber) }), ("display_name", { text($0.profile.displayName) }),
        ("given_name", { text($0.profile.givenName) }), ("family_name", { text($0.profile.familyName) }),
        ("country", { text($0.profile.country) }),
        ("offline_session_max", { seconds($0.offlineSessionMax) }),
        ("claims", { $0.claims.map { .object($0.values) } ?? .null }),
    ]

    private static let ofSettings: [Member<SessionSettings>] = [
        ("offline_session_idle", { seconds($0.offlineSessionIdle) }),
        ("offline_session_max", { seconds($0.offlineSessionMax) }),
        ("offline_session_max_limited", { .bool($0.offlineSessionMaxLimited) }),
        ("refresh_after", { seconds($0.refreshAfter) }),
        ("rotation_interval", { seconds($0.rotationInterval) }),
    ]

    private static let ofBrandings: [Member<Branding>] = [
        ("accent", { text($0.accent) }), ("logo", { text($0.logo) }), ("policy_uri", { text($0.policyURL) }),
        ("tos_uri", { text($0.termsURL) }), ("support_uri", { text($0.supportURL) }),
        ("support_email", { text($0.supportEmail) }),
    ]

    private static let ofClients: [Member<Client>] = [
        ("offline_session_idle", { seconds($0.offlineSessionIdle) }),
        ("offline_session_max", { seconds($0.offlineSessionMax) }),
        ("access_token_lifetime", { seconds($0.accessTokenLifetime) }),
        ("refresh_after", { seconds($0.refreshAfter) }),
        ("allowed_origins", { .array($0.allowedOrigins.map { .string($0.text) }) }),
    ]

    @Sendable private static func seconds(_ duration: Duration?) -> JSONValue {
        duration.map { .integer($0.wholeSeconds) } ?? .null
    }

    @Sendable private static func text(_ text: String?) -> JSONValue { text.map { .string($0) } ?? .null }
}
