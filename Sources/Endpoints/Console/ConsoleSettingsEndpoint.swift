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
            let (form, stored) = (SettingsForm(parameters), SettingsForm(settings.sessions))
            let view = ConsoleView(stay, self)
            func refused(_ sentence: String) -> Response {
                view.settings(settings, form, nil, (.bad, "\(sentence: sentence)")).response(.unprocessable)
            }
            if let earlier = stored.mark.earlier(in: parameters) {
                let late = form.late(earlier, stored: stored)
                return view.settings(settings, late.form, nil, notes: late.notes, FormMark.notice).response(.conflict)
            }
            let call: ConsoleCall
            do throws(ConsoleRefusal) { call = try form.call() } catch { return refused(error.sentence) }
            if parameters["act"] == "change" {
                guard stay.may(.owner) else { return refuse(.owner, stay) }
                if call == (try? stored.call()) {
                    return Self.redirect(to: stay.path(.consoleSettings, saying: "same"))
                }
                switch try await attempt(call, for: stay) {
                case .success: return Self.redirect(to: stay.path(.consoleSettings, saying: "changed"))
                case .failure(let refusal): return refused(refusal.sentence)
                }
            }
            do throws(ServiceError) {
                let preview = try await services.administration.preview(
                    form.sessionSettings(instead: settings.sessions), isOver: budget(Self.previewBudget))
                return view.settings(settings, form, preview).response()
            } catch {
                guard case .invalid(_, let detail) = error else { throw error }
                return refused("\(detail).")
            }
        }
    }
}

/// The settings as an admin has typed them.
struct SettingsForm: WholeForm {
    static let durations = ["offline_session_idle", "offline_session_max", "refresh_after", "rotation_interval"]
    static let isLimited = "offline_session_max_limited"
    static let names = durations + [isLimited]

    /// The texts of the settings; `1` for a maximum.
    var texts: [String: String]

    var limitsMaximum: Bool { texts[Self.isLimited] == "1" }

    /// The form with the present settings.
    init(_ settings: SessionSettings) {
        texts = [
            "offline_session_idle": ConsoleView.short(settings.offlineSessionIdle),
            "offline_session_max": ConsoleView.short(settings.offlineSessionMax),
            "refresh_after": ConsoleView.short(settings.refreshAfter),
            "rotation_interval": ConsoleView.short(settings.rotationInterval),
        ]
        texts[Self.isLimited] = settings.offlineSessionMaxLimited ? "1" : nil
    }

    init(_ members: [String: JSONValue]) {
        texts = members.compactMapValues { $0.integer.map(DurationText.text) }
        texts[Self.isLimited] = members[Self.isLimited] == .bool(true) ? "1" : nil
    }

    /// The form that was sent.
    init(_ form: FormParameters) {
        texts = Dictionary(uniqueKeysWithValues: Self.names.map { ($0, form.value($0) ?? "") })
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
    var mark: FormMark { FormMark((try? body()) ?? [:]) }

    func value(of name: String) throws(ConsoleRefusal) -> JSONValue? {
        if name == Self.isLimited { return .bool(limitsMaximum) }
        return .integer(try DurationText.seconds(texts[name] ?? "", in: Self.label(of: name)))
    }

    /// The call that makes these the settings.
    func call() throws(ConsoleRefusal) -> ConsoleCall {
        ConsoleCall(method: .put, path: "/settings/sessions", body: try body())
    }

    private func body() throws(ConsoleRefusal) -> [String: JSONValue] {
        var body: [String: JSONValue] = [:]
        for name in Self.names { body[name] = try value(of: name) }
        return body
    }

    func sessionSettings(instead settings: SessionSettings) -> SessionSettings {
        guard let values = try? body() else { return settings }
        func duration(_ name: String) -> Duration { .seconds(values[name]?.integer ?? 0) }
        return SessionSettings(
            offlineSessionIdle: duration("offline_session_idle"), offlineSessionMaxLimited: limitsMaximum,
            offlineSessionMax: duration("offline_session_max"), refreshAfter: duration("refresh_after"),
            rotationInterval: duration("rotation_interval"))
    }
}
