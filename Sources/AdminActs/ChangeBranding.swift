internal import HTTP
public import JSON
public import Sessions

/// Changes what pages and mails show of the service.
public struct ChangeBranding: AdminAct {
    /// See `AdminAct`.
    public static let scope = AdminKey.Scope.owner

    /// The members that an admin types.
    public static let texts = ["accent", "policy_uri", "tos_uri", "support_uri", "support_email"]

    /// The members that change; null removes one.
    public var members: [String: JSONValue]

    /// A change of those members.
    public init(_ members: [String: JSONValue]) { self.members = members }

    /// See `AdminAct`.
    public var call: AdminCall { AdminCall(.put, "/settings/branding", members) }

    /// See `AdminAct`.
    public var words: [String]? {
        ["settings", "brand"]
            + Self.texts.flatMap { name in
                members[name].map { Shell.option("--\(name.replacing("_", with: "-"))", $0.string ?? "") } ?? []
            }
    }
}
