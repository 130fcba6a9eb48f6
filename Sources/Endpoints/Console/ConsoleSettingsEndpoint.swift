internal import AdminActs
internal import Console
internal import HTTP
internal import JSON
internal import OAuth
internal import Pages
internal import Sessions

/// The session settings in the console.
extension Endpoints {
    /// `GET /console/settings`: the settings.
    func showConsoleSettings(_ call: Call) async throws -> Response {
        try await console(call) { stay in try await consoleSettingsPage(stay, nil).response() }
    }

    private func consoleSettingsPage(_ stay: ConsoleRequest, _ notice: ConsoleNotice?) async throws -> ConsolePage {
        let settings = try await services.administration.settings()
        return view(stay).settings(settings, SettingsForm(settings.sessions), nil, notice)
    }

    /// `POST /console/settings`: says what other settings would do, or changes them. With the scope `read` it only says.
    func changeConsoleSettings(_ call: Call) async throws -> Response {
        if let act = (try? call.form())?["act"], !ChangeSettings.names.contains(act),
            ActPage.settings.act(named: act) != nil
        {
            return try await consoleForm(
                call, on: .settings, of: .consoleSettings, needing: .owner, consoleSettingsPage)
        }
        return try await consoleForm(call, of: .consoleSettings, needing: .read) { stay, parameters in
            let settings = try await services.administration.settings()
            let (form, stored) = (SettingsForm(parameters.values), SettingsForm(settings.sessions))
            let view = self.view(stay)
            func refused(_ sentence: String) -> Response {
                view.settings(settings, form, nil, (.bad, "\(sentence: sentence)")).response(.unprocessable)
            }
            if let earlier = stored.mark.earlier(in: parameters.values) {
                let late = form.late(earlier, stored: stored)
                return view.settings(settings, late.form, nil, notes: late.notes, FormMark.notice).response(.conflict)
            }
            let act: ChangeSettings
            do throws(CallRefusal) {
                act = try ChangeSettings(parameters.values, on: ActSubject(""))
            } catch { return refused(error.sentence) }
            if parameters["act"] == "change" {
                guard stay.may(ChangeSettings.scope) else { return refuse(ChangeSettings.scope, stay) }
                if act.members == stored.mark.values {
                    return Self.redirect(to: stay.path(.consoleSettings, saying: ConsoleFlash(.unchanged)))
                }
                switch try await attempt(act.call, for: stay) {
                case .success: return Self.redirect(to: stay.path(.consoleSettings, saying: ConsoleFlash(.changed)))
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
