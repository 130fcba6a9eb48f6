internal import Configuration
internal import Server
internal import Sessions
internal import StoreFoundation
internal import Telemetry

/// The checks of the rows of a database of either kind.
struct ContentsCheck {
    let configuration: ServerConfiguration
    /// The environment variables of the process.
    let environment: [String: String]
    /// The time in Unix seconds.
    let now: Int64

    /// Runs every check of an up-to-date database. `newest` is the time of its last migration.
    func findings(
        _ settings: Settings, _ clients: [Client], _ keys: [StoredSigningKey], newest: Instant?
    ) -> [Finding] {
        [
            rootKeys(keys), self.settings(settings, clients), Self.origins(clients),
            clock((keys.map(\.createdAt) + [newest].compactMap { $0 }).max()),
        ].compactMap { $0 }
    }

    /// The missing migrations, and those that only a newer program knows.
    func migrations(_ missing: [PlannedMigration], appliedCount: Int, newerNames: [String]) -> Finding {
        if !newerNames.isEmpty {
            return Finding(
                .warn, "migrations",
                newerSteps(newerNames) + ". Let all nodes run the same program soon")
        }
        if missing.isEmpty { return Finding(.ok, "migrations", "\(appliedCount) applied, none is missing") }
        let names = missing.map { "\($0.version) \($0.name)" }.joined(separator: ", ")
        return Finding(
            .warn, "migrations",
            "missing: \(names); the next start runs them, 'sojourn migrate --plan' says what they do and what holds a start back. Make a backup before"
        )
    }

    /// The root keys, which must open the signing keys.
    private func rootKeys(_ keys: [StoredSigningKey]) -> Finding? {
        let system = Environment.system(
            ServerConfiguration.Log(level: .error, format: .text), environment: environment)
        let rootKeys: RootKeys?
        // Problems of the keys themselves are reported by the check of the root keys.
        do throws(StartError) {
            rootKeys = try Application.existingRootKeys(configuration, system)
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

    /// The public clients of pages that cannot call the server. It is no warning, because a page need not call it.
    static func origins(_ clients: [Client]) -> Finding? {
        let ids = clients.filter(\.seemsToLackOrigins).map(\.id).sorted()
        guard let first = ids.first else { return nil }
        let names = ids.count == 1 ? "the client \(first) has" : "\(ids.count) clients, \(first) among them, have"
        return Finding(
            .ok, "origins",
            "\(names) an https redirect URI and no origin. If pages on another host are to call this server, add their origin: "
                + "'sojourn client update \(first) --origins https://…'")
    }

    /// The progress of each webhook.
    func webhooks(_ progress: [String: DeliveryProgress]) -> [Finding] {
        configuration.webhooks.compactMap { webhook in
            progress[webhook.name].map { progress in
                Self.webhook(
                    webhook.name, failingSeconds: progress.failingSince.map { now - $0.secondsSinceEpoch } ?? 0)
            }
        } + logouts(progress) + streams(progress)
    }

    /// The progress of each client's logout tokens.
    private func logouts(_ progress: [String: DeliveryProgress]) -> [Finding] {
        progress.sorted { $0.key < $1.key }.compactMap { name, progress in
            DeliveryProgress.clientID(ofLogouts: name).map { client in
                Self.logouts(
                    of: client, failingSeconds: progress.failingSince.map { now - $0.secondsSinceEpoch } ?? 0)
            }
        }
    }

    /// The progress of each stream of security events.
    private func streams(_ progress: [String: DeliveryProgress]) -> [Finding] {
        progress.sorted { $0.key < $1.key }.compactMap { name, progress in
            DeliveryProgress.streamID(of: name).map { id in
                Self.stream(id, failingSeconds: progress.failingSince.map { now - $0.secondsSinceEpoch } ?? 0)
            }
        }
    }

    /// The progress of one stream of security events, or of the one that fails longest; a single failure is not reported.
    static func stream(_ id: String?, failingSeconds: Int64) -> Finding {
        let receiver = id.map { "the receiver of the stream \($0)" } ?? "a receiver of security events"
        if failingSeconds < 300 { return Finding(.ok, "event stream", "\(receiver) takes its events") }
        return Finding(
            .warn, "event stream",
            "\(receiver) has not taken its next event for \(failingSeconds / 60) minutes: the server's log says why")
    }

    /// The progress of the logout tokens of one client, or of the one that fails longest; a single failure is not reported.
    static func logouts(of client: String?, failingSeconds: Int64) -> Finding {
        let name = client.map { "the client \($0)" } ?? "each client"
        if failingSeconds < 300 { return Finding(.ok, "logout tokens", "\(name) takes its logout tokens") }
        return Finding(
            .warn, "logout tokens",
            "\(client.map { "the client \($0)" } ?? "a client") has not taken its next logout token for "
                + "\(failingSeconds / 60) minutes: the server's log says why, 'sojourn client logouts' which. Users whom it "
                + "should have logged out are still logged in there")
    }

    /// The progress of one webhook; a single failure is not reported.
    static func webhook(_ name: String, failingSeconds: Int64) -> Finding {
        if failingSeconds < 300 { return Finding(.ok, "webhook", "\(name) takes its events") }
        return Finding(
            .warn, "webhook",
            "\(name) has not taken its next event for \(failingSeconds / 60) minutes: the server's log says why. Events wait for "
                + "it for as long as the audit trail is kept")
    }

    /// The entries with times in the future.
    func clock(_ newest: Instant?) -> Finding? {
        guard let newest, newest.secondsSinceEpoch > now + 60 else { return nil }
        return Finding(
            .warn, "clock",
            "the database has entries of \(Finding.time(newest.secondsSinceEpoch)): was the clock set back?")
    }
}
