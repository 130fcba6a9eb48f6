internal import HTTP
internal import JSON
internal import Pages
internal import Sessions

extension ConsoleView {
    static let durationHint = "Write a duration as 14d, 12h, 90m or seconds."

    /// The settings, with a form, and what it would do.
    func settings(
        _ settings: Settings, _ form: SettingsForm, _ preview: SettingsPreview?,
        _ notice: (look: ConsoleLook, text: ConsoleText)? = nil
    ) -> ConsolePage {
        let maximum = policy.absoluteMaximum(beside: settings)
        var blocks: [ConsoleBlock] = [
            .form(
                ConsoleForm(
                    .consoleSettings, fields: fields(form) + [.hidden("act", "preview")],
                    button: "What would happen?"))
        ]
        if let preview {
            blocks.append(
                .section("What would happen", [.explanation(sentences(preview))] + change(form, instead: settings)))
        }
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

    private func fields(_ form: SettingsForm) -> [ConsoleField] {
        func text(_ name: String, _ label: String, _ hint: String) -> ConsoleField {
            .text(name, label: label, value: form.texts[name] ?? "", hint: hint)
        }
        return [
            text(
                "offline_session_idle", "Rolling window (offline_session_idle)",
                "A session ends if the app does not refresh for so long."),
            .check(
                SettingsForm.isLimited, label: "Sessions have a longest life (offline_session_max_limited)",
                isOn: form.limitsMaximum),
            text(
                "offline_session_max", "Longest life (offline_session_max)",
                "From the login, however often it is refreshed."),
            text("refresh_after", "Refresh after (refresh_after)", "The age at which apps renew their access token."),
            text(
                "rotation_interval", "Rotation interval (rotation_interval)",
                "For so long a new refresh token answers retries. 0: strict rotation."),
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

    private func change(_ form: SettingsForm, instead settings: Settings) -> [ConsoleBlock] {
        guard let call = form.call else { return [] }
        let hidden = form.texts.sorted { $0.key < $1.key }.map { ConsoleField.hidden($0.key, $0.value) }
        let box: [ConsoleField] = form.limitsMaximum ? [.hidden(SettingsForm.isLimited, "1")] : []
        let options = SettingsForm.durations.map { name in
            let duration = Duration.seconds(call.body?[name]?.integer ?? 0)
            return " --\(name.replacing("_", with: "-")) \(Self.short(duration))"
        }
        let limited = form.limitsMaximum
        let act = act(
            .consoleSettings, "change", label: "Change the settings",
            question: "Change the settings of all clients and sessions to these values?",
            fields: hidden + box + [SettingsForm(settings.sessions).mark.field],
            button: "Change the settings", isDestructive: true,
            command: { _ in "sojourn settings set\(options.joined()) --offline-session-max-limited \(limited) --yes" },
            making: { _ in call })
        return [.acts([act].compactMap(\.self))]
    }
}
