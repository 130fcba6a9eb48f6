public import JSON

/// The members of a user to which a change gave other values, as the audit trail records them. `email_changed` has the e-mail
/// address. The values are erased with the user.
public struct UserDifference: Hashable, Sendable {
    /// The old and the new value of a member; null if there was none, or is none.
    public struct Values: Hashable, Sendable {
        /// The old value.
        public let old: JSONValue
        /// The new value.
        public let new: JSONValue
    }

    /// The values by the name that the member has in the admin API.
    public let members: [String: Values]

    /// The difference between two states of a user; nil if no member differs.
    public init?(from old: User, to new: User) {
        var members: [String: Values] = [:]
        for (name, value) in Self.values where value(old) != value(new) {
            members[name] = Values(old: value(old), new: value(new))
        }
        if members.isEmpty { return nil }
        self.members = members
    }

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

    private static let values: [(name: String, value: @Sendable (User) -> JSONValue)] = [
        ("username", { .string($0.username) }),
        ("email_verified", { .bool($0.profile.isEmailVerified) }),
        ("phone_number", { text($0.profile.phoneNumber) }), ("display_name", { text($0.profile.displayName) }),
        ("given_name", { text($0.profile.givenName) }), ("family_name", { text($0.profile.familyName) }),
        ("country", { text($0.profile.country) }),
        ("offline_session_max", { $0.offlineSessionMax.map { .integer($0.wholeSeconds) } ?? .null }),
        ("claims", { $0.claims.map { .object($0.values) } ?? .null }),
    ]

    @Sendable private static func text(_ text: String?) -> JSONValue { text.map { .string($0) } ?? .null }
}
