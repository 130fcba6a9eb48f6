internal import HTTP
internal import JSON
internal import OAuth
internal import Pages
internal import Sessions

/// The session settings in the console.
extension Endpoints {
    /// `GET /console/settings`: the settings.
    func showConsoleSettings(_ call: Call) async throws -> Response {
        try await console(call) { stay in
            let settings = try await services.administration.settings()
            return ConsoleView(stay, self).settings(settings, SettingsForm(settings.sessions), nil).response()
        }
    }

    /// `POST /console/settings`: says what other settings would do, or changes them. With the scope `read` it only says.
    func changeConsoleSettings(_ call: Call) async throws -> Response {
        try await consoleForm(call, of: .consoleSettings, needing: .read) { stay, parameters in
            let settings = try await services.administration.settings()
            let form = SettingsForm(parameters)
            let view = ConsoleView(stay, self)
            guard let call = form.call else {
                return view.settings(settings, form, nil, (.bad, "\(sentence: ConsoleView.durationHint)")).response(
                    .unprocessable)
            }
            if parameters["act"] == "change" {
                guard stay.may(.owner) else { return refuse(.owner, stay) }
                if SettingsForm(settings.sessions).mark.isOlder(in: parameters) {
                    return view.settings(settings, SettingsForm(settings.sessions), nil, FormMark.notice)
                        .response(.conflict)
                }
                if call.body == SettingsForm(settings.sessions).body {
                    return Self.redirect(to: stay.path(.consoleSettings, saying: "same"))
                }
                switch try await attempt(call, for: stay) {
                case .success: return Self.redirect(to: stay.path(.consoleSettings, saying: "changed"))
                case .failure(let refusal):
                    return view.settings(settings, form, nil, (.bad, "\(sentence: refusal.sentence)")).response(
                        .unprocessable)
                }
            }
            do throws(ServiceError) {
                let preview = try await services.administration.preview(
                    form.sessionSettings(instead: settings.sessions), isOver: budget(Self.previewBudget))
                return view.settings(settings, form, preview).response()
            } catch {
                guard case .invalid(_, let detail) = error else { throw error }
                return view.settings(settings, form, nil, (.bad, "\(sentence: detail).")).response(.unprocessable)
            }
        }
    }
}

/// The settings as an admin has typed them.
struct SettingsForm: Sendable {
    static let durations = ["offline_session_idle", "offline_session_max", "refresh_after", "rotation_interval"]
    static let isLimited = "offline_session_max_limited"

    var texts: [String: String]
    var limitsMaximum: Bool

    /// The form with the present settings.
    init(_ settings: SessionSettings) {
        texts = [
            "offline_session_idle": ConsoleView.short(settings.offlineSessionIdle),
            "offline_session_max": ConsoleView.short(settings.offlineSessionMax),
            "refresh_after": ConsoleView.short(settings.refreshAfter),
            "rotation_interval": ConsoleView.short(settings.rotationInterval),
        ]
        limitsMaximum = settings.offlineSessionMaxLimited
    }

    /// The mark of the settings that the form shows.
    var mark: FormMark { FormMark(body ?? [:]) }

    /// The form that was sent.
    init(_ form: FormParameters) {
        texts = Dictionary(uniqueKeysWithValues: Self.durations.map { ($0, form.value($0) ?? "") })
        limitsMaximum = form[Self.isLimited] == "1"
    }

    private var values: [String: Int64]? {
        var values: [String: Int64] = [:]
        for (name, text) in texts {
            guard let seconds = ConsoleView.seconds(text) else { return nil }
            values[name] = seconds
        }
        return values
    }

    /// The call that makes these the settings; nil if a duration cannot be read.
    var call: ConsoleCall? { body.map { ConsoleCall(method: .put, path: "/settings/sessions", body: $0) } }

    /// The body of the call; nil if a duration cannot be read.
    var body: [String: JSONValue]? {
        values.map { values in
            var body = values.mapValues { JSONValue.integer($0) }
            body[Self.isLimited] = .bool(limitsMaximum)
            return body
        }
    }

    func sessionSettings(instead settings: SessionSettings) -> SessionSettings {
        guard let values else { return settings }
        func duration(_ name: String) -> Duration { .seconds(values[name] ?? 0) }
        return SessionSettings(
            offlineSessionIdle: duration("offline_session_idle"), offlineSessionMaxLimited: limitsMaximum,
            offlineSessionMax: duration("offline_session_max"), refreshAfter: duration("refresh_after"),
            rotationInterval: duration("rotation_interval"))
    }
}
