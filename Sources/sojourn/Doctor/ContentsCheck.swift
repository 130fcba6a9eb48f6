import Server
import Sessions
import StoreFoundation
import Telemetry

/// What `sojourn doctor` finds in what a database holds, of whichever kind it is.
struct ContentsCheck {
    let configuration: Configuration
    /// In Unix seconds.
    let now: Int64

    /// Every check of an up-to-date database. `newest` is when it had its last migration.
    func findings(
        _ settings: Settings, _ clients: [Client], _ keys: [StoredSigningKey], newest: Instant?
    ) -> [Finding] {
        [
            rootKeys(keys), self.settings(settings, clients),
            clock((keys.map(\.createdAt) + [newest].compactMap { $0 }).max()),
        ].compactMap { $0 }
    }

    /// Whether the database has had every migration.
    func migrations(_ missing: [PlannedMigration], appliedCount: Int) -> Finding {
        if missing.isEmpty { return Finding(.ok, "migrations", "\(appliedCount) applied, none is missing") }
        let names = missing.map { "\($0.version) \($0.name)" }.joined(separator: ", ")
        return Finding(
            .warn, "migrations",
            "missing: \(names); the next start runs them, 'sojourn migrate --plan' says what they do. Make a backup before"
        )
    }

    /// Signing keys are sealed with the root key: the wrong one is found out here, and not at the start.
    private func rootKeys(_ keys: [StoredSigningKey]) -> Finding? {
        let surroundings = Environment.system(
            Configuration.Log(level: .error, format: .text), environment: Setup.environment)
        let rootKeys: RootKeys?
        // What is wrong with the keys themselves, the check of the root keys has said.
        do throws(StartError) {
            rootKeys = try Application.existingRootKeys(configuration, surroundings)
        } catch { return nil }
        guard let rootKeys else {
            return keys.isEmpty
                ? nil
                : Finding(.fail, "root key", RootKeyFile.Problem.missing(path: configuration.rootKeyFile).description)
        }
        if SigningKeys.areOpened(keys, by: rootKeys) { return nil }
        return Finding(
            .fail, "root key",
            "it is not the one that the database was made with; restore the right one from its backup")
    }

    private func settings(_ settings: Settings, _ clients: [Client]) -> Finding? {
        Lifetimes.problem(
            settings: settings.sessions, clients: clients, absoluteMaximum: configuration.sessions.absoluteMaximum
        ).map { Finding(.fail, "settings", StartError.settings($0).description) }
    }

    /// Whether each webhook takes its events.
    func webhooks(_ progress: [String: WebhookProgress]) -> [Finding] {
        configuration.webhooks.compactMap { webhook in
            progress[webhook.name].map { progress in
                Self.webhook(
                    webhook.name, failingSeconds: progress.failingSince.map { now - $0.secondsSinceEpoch } ?? 0)
            }
        }
    }

    /// One that does not answer once is nothing yet.
    static func webhook(_ name: String, failingSeconds: Int64) -> Finding {
        if failingSeconds < 300 { return Finding(.ok, "webhook", "\(name) takes its events") }
        return Finding(
            .warn, "webhook",
            "\(name) has not taken its next event for \(failingSeconds / 60) minutes: the server's log says why. Events wait for "
                + "it for as long as the audit trail is kept")
    }

    /// Whether the database has entries of the future.
    func clock(_ newest: Instant?) -> Finding? {
        guard let newest, newest.secondsSinceEpoch > now + 60 else { return nil }
        return Finding(
            .warn, "clock",
            "the database has entries of \(Formatting.time(newest.secondsSinceEpoch)): was the clock set back?")
    }
}
