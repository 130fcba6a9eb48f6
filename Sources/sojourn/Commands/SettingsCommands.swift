import AdminActs
import HTTP
import JSON

/// `sojourn settings …`
enum SettingsCommands {
    static let all = [show, set, BrandingCommands.brand, BrandingCommands.settingsLogo]

    static let show = Command.admin(
        ["settings", "show"], "Shows the session settings.", examples: ["sojourn settings show"],
        send: { connection, _ async throws(Failure) in try await connection.send(.get, ["settings", "sessions"]) },
        show: { settings, _ in facts(settings) })

    static let set = Command.admin(
        ["settings", "set"], "Changes session settings, at once, for active sessions too.",
        options: [
            Command.Option(
                "--offline-session-idle", "DURATION",
                "the rolling window: a session ends after so long without a refresh"),
            Command.Option("--offline-session-max-limited", "BOOL", "whether sessions have a longest lifetime"),
            Command.Option("--offline-session-max", "DURATION", "the longest lifetime of a session, from the login"),
            Command.Option("--refresh-after", "DURATION", "the age at which apps should refresh"),
            Command.Option(
                "--rotation-interval", "DURATION", "how long a new refresh token answers retries; 0: strict"),
            LifetimePreview.option,
        ],
        discussion: """
            Shorter lifetimes end the sessions that exceed them. If a change would end active ones, the command says how many, and
            changes nothing without --yes. Impossible combinations are refused.
            """,
        examples: [
            "sojourn settings set --offline-session-idle 14d --offline-session-max 180d",
            "sojourn settings set --rotation-interval 2m",
        ],
        act: { arguments throws(Failure) in
            var members: [String: JSONValue] = [:]
            func option(_ member: String) -> String { "--" + member.replacing("_", with: "-") }
            for member in ChangeSettings.durations {
                members[member] = try arguments.seconds(option(member)).map { .integer($0) }
            }
            members[ChangeSettings.isLimited] = try arguments.bool(option(ChangeSettings.isLimited)).map {
                .bool($0)
            }
            if members.isEmpty { throw arguments.usage("nothing to change is named") }
            return ChangeSettings(members)
        },
        after: { connection, arguments, call async throws(Failure) in
            try await LifetimePreview.confirm(connection, arguments, ["settings", "sessions"], call.body ?? [:])
        },
        show: { settings, _ in facts(settings) })

    private static func facts(_ settings: JSONValue) -> String {
        Formatting.facts(
            [
                "offline_session_idle", "offline_session_max_limited", "offline_session_max", "absolute_max_lifetime",
                "refresh_after", "rotation_interval",
            ].map { name in
                (name, settings[name]?.integer.map { "\(Formatting.span($0)) (\($0))" } ?? settings[name]?.cell)
            })
    }
}
