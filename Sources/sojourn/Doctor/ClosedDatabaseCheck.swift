import FoundationEssentials
import Server
import SQLiteStore
import Sessions
import StoreFoundation
import Telemetry

/// What `sojourn doctor` finds in a database that no server has open. It is read, and not changed.
struct ClosedDatabaseCheck {
    let configuration: Configuration
    /// In Unix seconds.
    let now: Int64

    /// Every check, in an order in which each explains the next.
    var findings: [Finding] {
        do throws(OpenError) {
            let database = try ClosedDatabase(path: configuration.database.path)
            defer { database.close() }
            return try findings(in: database)
        } catch { return [Finding(.fail, "database", error.description)] }
    }

    /// Every check of the database.
    func findings(in database: ClosedDatabase) throws(OpenError) -> [Finding] {
        let diagnostics = try database.diagnostics()
        var findings = Self.file(diagnostics, configuration.database.path)
        let missing = try database.plan()
        let contents = ContentsCheck(configuration: configuration, now: now)
        findings += [
            contents.migrations(missing, appliedCount: diagnostics.applied.count),
            Self.sqlite(diagnostics.sqliteVersion),
        ]
        let newest = diagnostics.applied.map(\.appliedAt).max()
        if missing.isEmpty {
            let (settings, clients, keys) = try database.contents()
            findings += contents.findings(settings, clients, keys, newest: newest)
            return findings + contents.webhooks(try database.webhooks())
        }
        return findings + [contents.clock(newest)].compactMap { $0 }
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
