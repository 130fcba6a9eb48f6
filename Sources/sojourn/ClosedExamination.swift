import FoundationEssentials
import Server
import SQLiteStore
import Sessions
import Telemetry

/// What `sojourn doctor` finds in a database that no server has open. It is read, and not changed.
struct ClosedExamination {
    let configuration: Configuration
    /// In Unix seconds.
    let now: Int64

    /// Every check, in an order in which each explains the next.
    var findings: [Finding] {
        do throws(OpenError) {
            let database = try ClosedDatabase(path: configuration.database.path)
            defer { database.close() }
            let diagnostics = try database.diagnostics()
            var findings = Self.file(diagnostics, configuration.database.path)
            let missing = try database.plan()
            findings += [Self.migrations(missing, diagnostics), Self.sqlite(diagnostics.sqliteVersion)]
            var newest = diagnostics.applied.map(\.appliedAt)
            if missing.isEmpty {
                let contents = try database.contents()
                newest += contents.keys.map(\.createdAt)
                findings += [rootKeys(contents.keys), settings(contents.settings, contents.clients)]
                    .compactMap { $0 }
            }
            return findings + [clock(newest.max())].compactMap { $0 }
        } catch { return [Finding(.fail, "database", error.description)] }
    }

    private static func file(_ diagnostics: Diagnostics, _ path: String) -> [Finding] {
        let check = diagnostics.comparesIndexes ? "integrity_check" : "quick_check"
        return [
            diagnostics.problems.isEmpty
                ? Finding(
                    .ok, "database",
                    "sound (\(check)); \(diagnostics.fileBytes / 1024) KiB, log \(diagnostics.logBytes / 1024) KiB")
                : Finding(
                    .fail, "database",
                    OpenError.damaged(path: path, reason: diagnostics.problems.joined(separator: "; ")).description),
            diagnostics.journalMode == "wal"
                ? Finding(.ok, "write-ahead log", "on")
                : Finding(.fail, "write-ahead log", "the journal mode is \(diagnostics.journalMode): use a local disk"),
        ]
    }

    private static func migrations(_ missing: [PlannedMigration], _ diagnostics: Diagnostics) -> Finding {
        if missing.isEmpty {
            return Finding(.ok, "migrations", "\(diagnostics.applied.count) applied, none is missing")
        }
        let names = missing.map { "\($0.version) \($0.name)" }.joined(separator: ", ")
        return Finding(
            .warn, "migrations",
            "missing: \(names); the next start runs them, 'sojourn migrate --plan' says what they do. Make a backup before"
        )
    }

    /// Signing keys are sealed with the root key: the wrong one is found out here, and not at the start.
    private func rootKeys(_ keys: [StoredSigningKey]) -> Finding? {
        let surroundings = Surroundings.system(
            Configuration.Log(level: .error, format: .text), environment: Setup.environment)
        // What is wrong with the keys themselves, the check of the root keys has said.
        guard let rootKeys = try? Application.existingRootKeys(configuration, surroundings),
            !SigningKeys.areOpened(keys, by: rootKeys)
        else { return nil }
        return Finding(
            .fail, "root key",
            "it is not the one that the database was made with; restore the right one from its backup")
    }

    private func settings(_ settings: Settings, _ clients: [Client]) -> Finding? {
        Lifetimes.problem(
            settings: settings.sessions, clients: clients, absoluteMaximum: configuration.sessions.absoluteMaximum
        ).map { Finding(.fail, "settings", StartError.settings($0).description) }
    }

    private func clock(_ newest: Instant?) -> Finding? {
        guard let newest, newest.secondsSinceEpoch > now + 60 else { return nil }
        return Finding(
            .warn, "clock",
            "the database has entries of \(Wording.time(newest.secondsSinceEpoch)): was the clock set back?")
    }

    private static func sqlite(_ version: String) -> Finding {
        let parts = version.split(separator: ".").compactMap { Int($0) }
        let isFixed = !parts.lexicographicallyPrecedes([3, 51, 3])
        return Finding(
            .ok, "SQLite",
            isFixed
                ? version
                : "\(version): before 3.51.3 two processes can damage a file in WAL mode. The server's lock keeps other "
                    + "sojourns away; do not open the file with other programs while it runs")
    }
}
