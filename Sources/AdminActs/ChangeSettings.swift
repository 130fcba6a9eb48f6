internal import HTTP
public import JSON
public import Sessions

/// Replaces the session settings.
public struct ChangeSettings: AdminAct {
    /// See `AdminAct`.
    public static let scope = AdminKey.Scope.owner

    /// The members that are durations.
    public static let durations = [
        "offline_session_idle", "offline_session_max", "refresh_after", "rotation_interval",
    ]
    /// The member that says whether sessions have a longest life.
    public static let isLimited = "offline_session_max_limited"

    /// Every setting.
    public var members: [String: JSONValue]

    /// The settings with those members.
    public init(_ members: [String: JSONValue]) { self.members = members }

    /// See `AdminAct`.
    public var call: AdminCall { AdminCall(.put, "/settings/sessions", members) }

    /// See `AdminAct`.
    public var words: [String]? {
        func option(_ member: String) -> String { "--\(member.replacing("_", with: "-"))" }
        let durations = Self.durations.flatMap { member in
            members[member]?.integer.map { [option(member), DurationText.text($0)] } ?? []
        }
        let limited = members[Self.isLimited]?.bool.map { [option(Self.isLimited), "\($0)"] } ?? []
        return ["settings", "set"] + durations + limited + ["--yes"]
    }
}
