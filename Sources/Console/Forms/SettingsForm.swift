public import AdminActs
public import JSON
public import Sessions

/// The settings as an admin has typed them.
public struct SettingsForm: WholeForm {
    static let durations = ChangeSettings.durations
    static let isLimited = ChangeSettings.isLimited
    /// See `WholeForm`.
    public static let names = durations + [isLimited]

    /// The texts of the settings; `1` for a maximum.
    public var texts: [String: String]

    var limitsMaximum: Bool { texts[Self.isLimited] == "1" }

    /// The form with the present settings.
    public init(_ settings: SessionSettings) {
        texts = [
            "offline_session_idle": DurationText.text(settings.offlineSessionIdle),
            "offline_session_max": DurationText.text(settings.offlineSessionMax),
            "refresh_after": DurationText.text(settings.refreshAfter),
            "rotation_interval": DurationText.text(settings.rotationInterval),
        ]
        texts[Self.isLimited] = settings.offlineSessionMaxLimited ? "1" : nil
    }

    /// See `WholeForm`.
    public init(_ members: [String: JSONValue]) {
        texts = members.compactMapValues { $0.integer.map(DurationText.text) }
        texts[Self.isLimited] = members[Self.isLimited] == .bool(true) ? "1" : nil
    }

    /// The form that was sent.
    public init(_ form: FormValues) {
        texts = Dictionary(uniqueKeysWithValues: Self.names.map { ($0, form[$0] ?? "") })
    }

    /// The name of a setting for people, with that of the API.
    static func label(of name: String) -> String {
        switch name {
        case "offline_session_idle": "Rolling window (\(name))"
        case "offline_session_max": "Longest life (\(name))"
        case "refresh_after": "Refresh after (\(name))"
        case "rotation_interval": "Rotation interval (\(name))"
        default: "Sessions have a longest life (\(name))"
        }
    }

    /// The mark of the settings that the form shows.
    public var mark: FormMark { FormMark((try? body()) ?? [:]) }

    /// See `WholeForm`.
    public func value(of name: String) throws(CallRefusal) -> JSONValue? {
        if name == Self.isLimited { return .bool(limitsMaximum) }
        return .integer(try DurationText.seconds(texts[name] ?? "", in: Self.label(of: name)))
    }

    /// The members of these settings.
    func body() throws(CallRefusal) -> [String: JSONValue] {
        var body: [String: JSONValue] = [:]
        for name in Self.names { body[name] = try value(of: name) }
        return body
    }

    /// These settings, for a preview; those of today if a field cannot be read.
    public func sessionSettings(instead settings: SessionSettings) -> SessionSettings {
        guard let values = try? body() else { return settings }
        func duration(_ name: String) -> Duration { .seconds(values[name]?.integer ?? 0) }
        return SessionSettings(
            offlineSessionIdle: duration("offline_session_idle"), offlineSessionMaxLimited: limitsMaximum,
            offlineSessionMax: duration("offline_session_max"), refreshAfter: duration("refresh_after"),
            rotationInterval: duration("rotation_interval"))
    }
}
