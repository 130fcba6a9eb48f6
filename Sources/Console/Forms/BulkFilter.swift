public import AdminActs
public import Sessions

/// Which sessions of all users an admin looks for, as it was typed.
public struct BulkFilter: Sendable {
    /// The fields, with their labels.
    public static let fields: [(name: String, label: String)] = [
        ("client", "App"), ("age", "Older than"), ("unused", "Not refreshed for"), ("platform", "Platform"),
        ("version", "Version of the app"),
        // As `amr` says.
        ("method", "Authenticated by (pwd, hwk, swk, phone)"),
        // Of the user's profile. A session has no place: the audit trail knows from where it came.
        ("country", "Country of the user (two letters)"),
    ]
    /// The fields with a duration.
    static let durations: Set = ["age", "unused"]

    /// The names and values of the query, those that are set.
    public let pairs: [(name: String, value: String)]

    /// The filter of the values that were typed.
    public init(_ value: (String) -> String?) {
        pairs = Self.fields.compactMap { field in value(field.name).map { (field.name, $0) } }
    }

    subscript(_ name: String) -> String? { pairs.first { $0.name == name }?.value }

    /// What the filter lets through. Throws the sentence for a field that cannot be read.
    public func matching(at now: Instant) throws(CallRefusal) -> @Sendable (SessionRecord) -> Bool {
        for field in Self.fields {
            if let text = self[field.name], !Text.isValid(text, lengthMax: 256) {
                throw CallRefusal(
                    "\(field.label) must have 1 to 256 bytes and no control characters.")
            }
        }
        let (age, unused) = (try duration("age"), try duration("unused"))
        let (client, version, method) = (self["client"], self["version"], self["method"])
        let (platform, country) = (self["platform"]?.lowercased(), self["country"]?.lowercased())
        return { record in
            let session = record.session
            if let client, client != session.clientID { return false }
            if let age, now - session.startedAt < age { return false }
            if let unused, now - record.settings.restores.idleStart(session.renewedAt, unused) < unused { return false }
            if let platform, session.device.platform?.lowercased().hasPrefix(platform) != true { return false }
            if let version, session.device.appVersion != version { return false }
            if let country, record.user?.profile.country?.lowercased() != country { return false }
            if let method, !session.authenticationMethods.contains(method) { return false }
            return true
        }
    }

    private func duration(_ name: String) throws(CallRefusal) -> Duration? {
        guard let text = self[name] else { return nil }
        let label = Self.fields.first { $0.name == name }?.label ?? name
        return .seconds(try DurationText.seconds(text, in: label))
    }
}
