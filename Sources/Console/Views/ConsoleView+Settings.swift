internal import AdminActs
internal import HTTP
internal import JSON
public import Pages
public import Sessions

extension ConsoleView {
    /// The settings, with a form, and what it would do.
    ///
    /// - Parameter notes: what stands beside fields, by their names.
    public func settings(
        _ settings: Settings, _ form: SettingsForm, _ preview: SettingsPreview?, notes: [String: String] = [:],
        _ notice: ConsoleNotice? = nil
    ) -> ConsolePage {
        let maximum = policy.absoluteMaximum(beside: settings)
        let mark = SettingsForm(settings.sessions).mark.field
        var blocks: [ConsoleBlock] = [
            .form(
                ConsoleForm(
                    .consoleSettings, fields: fields(form, notes) + [mark, .hidden("act", "preview")],
                    button: "What would happen?"))
        ]
        if let preview {
            blocks.append(
                .section(
                    "What would happen", [.explanation(sentences(preview))] + change(form, instead: settings, mark)))
        }
        blocks.append(secondFactorPolicy(settings))
        blocks.append(brand(settings.branding))
        blocks.append(
            .section(
                "Not here",
                [
                    .text(
                        """
                        No session lives longer than \(name: Self.span(maximum)): \
                        \(code: "sessions.absolute_max_lifetime") of the configuration file. A client and a user can have \
                        shorter limits of their own.
                        """)
                ]))
        return page(
            .settings, "Settings",
            lead: "How long users stay signed in. A change acts at once on every session that has not ended.",
            notice: notice, blocks)
    }

    private func fields(_ form: SettingsForm, _ notes: [String: String]) -> [ConsoleField] {
        func duration(_ name: String, _ hint: String) -> ConsoleField {
            .duration(name, label: SettingsForm.label(of: name), value: form.texts[name] ?? "", hint: hint)
                .noted(notes[name])
        }
        return [
            duration("offline_session_idle", "A session ends if the app does not refresh for so long."),
            .check(
                SettingsForm.isLimited, label: SettingsForm.label(of: SettingsForm.isLimited),
                isOn: form.limitsMaximum
            ).noted(notes[SettingsForm.isLimited]),
            duration("offline_session_max", "From the login, however often it is refreshed."),
            duration("refresh_after", "The age at which apps renew their access token."),
            duration("rotation_interval", "For so long a new refresh token answers retries. 0: strict rotation."),
        ]
    }

    private func sentences(_ preview: SettingsPreview) -> [ConsoleText] {
        if preview.looked == 0 { return ["There is no living session to look at."] }
        let looked = Self.counted("\(preview.looked)", "living session")
        let share = Double(preview.endingNow) * 100 / Double(preview.looked)
        let percent = share == 0 ? "0" : share < 1 ? "less than 1" : "\(Int(share + 0.5))"
        return [
            preview.isWhole
                ? "All \(looked) were looked at."
                : "This is a sample: \(looked), from a random place on, as many as two seconds allow.",
            """
            \(name: "\(preview.endingNow)") (\(percent) %) would end at once, so that their users have to log in again. \
            \(name: "\(preview.endingEarlier)") would end earlier than with today's settings unless they are refreshed, and \
            \(name: "\(preview.endingLater)") later.
            """,
        ]
    }

    private func change(_ form: SettingsForm, instead settings: Settings, _ mark: ConsoleField) -> [ConsoleBlock] {
        guard (try? form.body()) != nil else { return [] }
        let hidden = SettingsForm.names.compactMap { name in
            form.texts[name].map { ConsoleField.hidden(name, $0) }
        }
        let change = self.form(
            ChangeSettings.self, on: ActSubject(""), .consoleSettings, label: "Change the settings",
            question: """
                Change the settings of all clients and sessions? \
                \(.joined(differences(form, SettingsForm(settings.sessions)), by: " · "))
                """,
            fields: hidden + [mark],
            button: "Change the settings", isDestructive: true)
        return [.acts([change].compactMap(\.self))]
    }

    /// `offline_session_idle: 14d → 30d`, for each setting that would change.
    private func differences(_ form: SettingsForm, _ stored: SettingsForm) -> [ConsoleText] {
        let changes = SettingsForm.names.filter { (try? form.value(of: $0)) != (try? stored.value(of: $0)) }
        if changes.isEmpty { return ["These are the values of today."] }
        return changes.map { name in
            "\(code: name): \(stored.words(of: name)) → \(name: form.words(of: name))"
        }
    }
}
