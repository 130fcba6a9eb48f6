internal import JSON

/// An option of `sojourn user` that sets a member of a user. The command line reads options by this table, and acts write them by it.
public struct UserOption: Hashable, Sendable {
    /// How the value of a member is written.
    public enum Kind: Hashable, Sendable {
        /// A text; an empty one is null.
        case text
        /// The text itself.
        case name
        case flag
        /// A duration, or `inherit`, which is null.
        case lifetime
        /// A JSON object; an empty text is null.
        case object
    }

    /// `--name`
    public let name: String
    /// The member of the admin API.
    public let member: String
    /// How its value is written.
    public let kind: Kind

    private init(_ name: String, _ member: String, _ kind: Kind) {
        (self.name, self.member, self.kind) = (name, member, kind)
    }

    /// The member with the user's own longest session.
    public static let maximum = "offline_session_max"

    /// Every option that sets a member.
    public static let all = [
        UserOption("--username", "username", .name), UserOption("--name", "display_name", .text),
        UserOption("--given-name", "given_name", .text), UserOption("--family-name", "family_name", .text),
        UserOption("--email", "email", .text), UserOption("--phone", "phone_number", .text),
        UserOption("--country", "country", .text), UserOption("--email-verified", "email_verified", .flag),
        UserOption("--offline-session-max", maximum, .lifetime), UserOption("--claims", "claims", .object),
        UserOption("--source", "source", .name),
    ]

    /// The options for members; nil if a member has none.
    static func words(_ members: [String: JSONValue]) -> [String]? {
        let options = all.filter { members[$0.member] != nil }
        guard options.count == members.count else { return nil }
        return options.flatMap { Shell.option($0.name, $0.text(members[$0.member] ?? .null)) }
    }

    private func text(_ value: JSONValue) -> String {
        switch kind {
        case .text, .name: value.string ?? ""
        case .flag: "\(value.bool == true)"
        case .lifetime: value.integer.map { DurationText.text($0) } ?? "inherit"
        case .object: value == .null ? "" : value.compactText ?? ""
        }
    }
}
