internal import HTTP
internal import Sessions

extension Endpoints {
    /// `GET /admin/v1/settings/sessions`: answers the session settings.
    func showSettings(_ call: Call) async throws -> Response {
        try .json(answer(try await services.administration.settings()))
    }

    /// `PUT /admin/v1/settings/sessions`: changes the settings, at once and for existing sessions. Absent members keep their
    /// value; null is refused. `absolute_max_lifetime` is accepted with its present value, so that the answer of the GET can be
    /// sent back.
    func changeSettings(_ call: Call) async throws -> Response {
        let change = try await settingsMembers(call)
        let settings = try await services.administration.changeSettings(by: call.origin) { change.apply(to: &$0) }
        return try .json(answer(settings))
    }

    /// The change in the body of a call. It is checked against the absolute maximum of now.
    func settingsMembers(_ call: Call) async throws -> SettingsMembers {
        let members = try Members(call, known: SettingsMembers.names + ["absolute_max_lifetime"], mayBeMissing: true)
        try members.refuseNull("absolute_max_lifetime")
        if let maximum = try members.seconds("absolute_max_lifetime"),
            maximum != context.policy.absoluteMaximum(beside: try await services.administration.settings())
        {
            throw members.refused(
                "absolute_max_lifetime", "is set by sessions.absolute_max_lifetime in the configuration file")
        }
        return try SettingsMembers(members)
    }

    private func answer(_ settings: Settings) -> SettingsAnswer {
        SettingsAnswer(settings.sessions, absoluteMaximum: context.policy.absoluteMaximum(beside: settings))
    }
}

/// The members of the session settings in a body that changes them.
struct SettingsMembers: Sendable {
    static let names = [
        "offline_session_idle", "offline_session_max_limited", "offline_session_max", "refresh_after",
        "rotation_interval",
    ]

    private let idle: Duration?
    private let isLimited: Bool?
    private let maximum: Duration?
    private let refreshAfter: Duration?
    private let interval: Duration?

    init(_ members: Members) throws {
        try members.refuseNull(
            "offline_session_idle", "offline_session_max_limited", "offline_session_max", "refresh_after",
            "rotation_interval")
        idle = try members.seconds("offline_session_idle")
        isLimited = try members.bool("offline_session_max_limited")
        maximum = try members.seconds("offline_session_max")
        refreshAfter = try members.seconds("refresh_after")
        interval = try members.seconds("rotation_interval")
    }

    /// Sets the members that the body names.
    func apply(to settings: inout SessionSettings) {
        if let idle { settings.offlineSessionIdle = idle }
        if let isLimited { settings.offlineSessionMaxLimited = isLimited }
        if let maximum { settings.offlineSessionMax = maximum }
        if let refreshAfter { settings.refreshAfter = refreshAfter }
        if let interval { settings.rotationInterval = interval }
    }
}

/// The session settings as JSON, durations in seconds. The body of `PUT` accepts the same members.
struct SettingsAnswer: Encodable {
    let offlineSessionIdle: Int64
    let offlineSessionMaxLimited: Bool
    let offlineSessionMax: Int64
    let refreshAfter: Int64
    let rotationInterval: Int64
    let absoluteMaxLifetime: Int64

    init(_ settings: SessionSettings, absoluteMaximum: Duration) {
        offlineSessionIdle = settings.offlineSessionIdle.wholeSeconds
        offlineSessionMaxLimited = settings.offlineSessionMaxLimited
        offlineSessionMax = settings.offlineSessionMax.wholeSeconds
        refreshAfter = settings.refreshAfter.wholeSeconds
        rotationInterval = settings.rotationInterval.wholeSeconds
        absoluteMaxLifetime = absoluteMaximum.wholeSeconds
    }

    enum CodingKeys: String, CodingKey {
        case offlineSessionIdle = "offline_session_idle"
        case offlineSessionMaxLimited = "offline_session_max_limited"
        case offlineSessionMax = "offline_session_max"
        case refreshAfter = "refresh_after"
        case rotationInterval = "rotation_interval"
        case absoluteMaxLifetime = "absolute_max_lifetime"
    }
}

extension Route {
    static let showSettings = Route(
        .get, "/admin/v1/settings/sessions", on: .admin, .admin(.read) { try await $0.showSettings($1) },
        Operation(
            "show_settings", .settings, "Show the lifetimes",
            answers: [.json("Settings", "The settings.")]))

    static let changeSettings = Route(
        .put, "/admin/v1/settings/sessions", on: .admin, .admin(.owner) { try await $0.changeSettings($1) },
        Operation(
            "change_settings", .settings, "Change the lifetimes",
            """
            The change applies at once, to every active session, on every node. Absent members keep their value. \
            Impossible combinations are refused with a sentence.
            """,
            takes: .json("SettingsChange", isOptional: true), answers: [.json("Settings", "The changed settings.")]))
}
