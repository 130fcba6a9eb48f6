internal import Configuration
internal import Server
internal import SQLiteStore
internal import Sessions
internal import StoreFoundation
internal import Telemetry

/// The checks of a SQLite database that no server has open. They read and never write.
struct ClosedDatabaseCheck {
    let contents: ContentsCheck
    private var path: String { contents.configuration.database.path }

    /// Runs every check, in an order in which each explains the next.
    var findings: [Finding] {
        do throws(OpenError) {
            let database = try ClosedDatabase(path: path)
            defer { database.close() }
            return try findings(in: database)
        } catch { return [Finding(.fail, "database", error.description)] }
    }

    /// Runs every check of an open database.
    func findings(in database: ClosedDatabase) throws(OpenError) -> [Finding] {
        let diagnostics = try database.diagnostics()
        var findings = Self.file(diagnostics, path)
        let missing = try database.plan()
        findings += [
            contents.migrations(
                missing, appliedCount: diagnostics.applied.count, newerNames: try database.newerNames()),
            Self.sqlite(diagnostics.sqliteVersion),
        ]
        let newest = diagnostics.applied.map(\.appliedAt).max()
        if missing.isEmpty {
            let (settings, clients, keys) = try database.contents()
            findings += contents.findings(settings, clients, keys, newest: newest)
            return findings + contents.webhooks(try database.deliveries())
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
