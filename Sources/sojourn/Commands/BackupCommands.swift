import Configuration
import FoundationEssentials
import HTTP
import JSON
import Server
import SQLiteStore
import Sessions

/// `sojourn backup` and `sojourn restore`
enum BackupCommands {
    static let backup = Command(
        path: ["backup"], summary: "Copies the database to a file, while the server runs or not.", operands: ["FILE"],
        options: [Command.Option("--force", nil, "replace a backup that is there already")] + Command.Option.admin,
        discussion: """
            The file holds one moment of the database. It is complete, checked and on the disk when the command returns, and
            has the mode 0600, because it holds the hashes of passwords. The server writes it with its own rights, and serves
            refreshes meanwhile. Back up the root keys once, in another place: a backup is useless without them, and with
            them it is the server. Without a server, the database is copied as it is, without migrations.
            """,
        examples: [
            "sojourn backup /var/backups/sojourn-1.sqlite", "sojourn backup --force /var/backups/sojourn-daily.sqlite",
        ]
    ) { (arguments) async throws(Failure) in
        let configuration = try fileConfiguration(arguments)
        let file = absolute(arguments.operands[0])
        let (bytes, seconds): (Int64, Double)
        if let server = try AdminConnection.server(configuration) {
            (bytes, seconds) = try await backUp(over: server, file, replacing: arguments.has("--force"))
        } else {
            do throws(BackupError) {
                let made = try SQLiteStore.backUp(
                    closed: configuration.database.path, to: file, replacing: arguments.has("--force"),
                    by: Origin(actor: "admin:local"), clock: .system)
                (bytes, seconds) = (made.bytes, made.duration / .seconds(1))
            } catch { throw failure(error, configuration) }
        }
        if arguments.isJSON {
            let answer: JSONValue = .object([
                "file": .string(file), "bytes": .integer(bytes), "seconds": .number((seconds * 1000).rounded() / 1000),
            ])
            return Terminal.write(String(decoding: answer.text(pretty: true), as: UTF8.self))
        }
        Terminal.write("the backup is \(file): \(size(bytes)) in \(duration(seconds)), checked")
    }

    /// The configuration, which must name a file.
    private static func fileConfiguration(_ arguments: Arguments) throws(Failure) -> ServerConfiguration {
        let configuration = try Setup.configuration(arguments)
        guard configuration.database.isFile else {
            throw Failure(
                .refused,
                "PostgreSQL has tools of its own: pg_dump and pg_restore, or its archive of the log. After either, too, apps go "
                    + "on with the newest tokens that they hold")
        }
        return configuration
    }

    /// Makes the server write the backup, and waits for the end.
    private static func backUp(
        over server: AdminConnection, _ file: String, replacing: Bool
    ) async throws(Failure) -> (bytes: Int64, seconds: Double) {
        var status = try await server.send(
            .post, ["backup"], .object(["file": .string(file), "replace": .bool(replacing)]))
        while status["state"]?.string == "running" {
            try? await Task.sleep(for: .milliseconds(50))
            status = try await server.send(.get, ["backup"])
        }
        guard status["state"]?.string == "done" else {
            throw Failure(
                status["state"]?.string == "refused" ? .refused : .failed,
                status["detail"]?.string ?? "the server did not make it")
        }
        var seconds = 0.0
        switch status["seconds"] {
        case .number(let value)?: seconds = value
        // JSON does not distinguish 2 from 2.0.
        case .integer(let value)?: seconds = Double(value)
        default: break
        }
        return (status["bytes"]?.integer ?? 0, seconds)
    }

    static let restore = Command(
        path: ["restore"], summary: "Replaces the database by a backup; the replaced database is kept beside it.",
        operands: ["FILE"], options: Command.Option.admin,
        discussion: """
            Stop the server first. No user is logged out by a restore: apps go on with their newest tokens, even if the backup
            is older than these. Logins after the backup are lost. Sessions that ended after it are active again, and logins
            that were switched off after it are on; the output says what to do. The next start migrates a backup of an older
            version; a backup of a newer version is refused if it dropped what this program needs.
            """,
        examples: ["sojourn restore /var/backups/sojourn-1.sqlite"]
    ) { (arguments) async throws(Failure) in
        let configuration = try fileConfiguration(arguments)
        let file = absolute(arguments.operands[0])
        let restored: Restoration
        do throws(BackupError) {
            restored = try SQLiteStore.restore(
                file, over: configuration.database.path, by: Origin(actor: "admin:local"), clock: .system)
        } catch {
            if case .open(.alreadyOpen(path: _)) = error {
                throw Failure(
                    .refused, "a server has the database \(configuration.database.path) open: stop it, then restore")
            }
            throw failure(error, configuration)
        }
        Terminal.write(
            arguments.isJSON
                ? String(decoding: json(restored, file).text(pretty: true), as: UTF8.self)
                : RestorationText.lines(restored, file, configuration).joined(separator: "\n"))
    }

    private static func json(_ restored: Restoration, _ file: String) -> JSONValue {
        var members: [String: JSONValue] = ["file": .string(file), "bytes": .integer(restored.bytes)]
        if let takenAt = restored.takenAt { members["taken_at"] = .integer(takenAt.secondsSinceEpoch) }
        if let replaced = restored.replaced { members["replaced"] = .string(replaced) }
        if let undone = restored.undone { members["undone"] = .object(undone.mapValues { .integer(Int64($0)) }) }
        return .object(members)
    }

    private static func failure(_ error: BackupError, _ configuration: ServerConfiguration) -> Failure {
        switch error {
        case .open(.alreadyOpen(path: _)): AdminConnection.silentServer(configuration)
        case .missing: Failure(.notFound, error.description)
        default: Failure(error.isRefusal ? .refused : .failed, error.description)
        }
    }

    private static func absolute(_ path: String) -> String {
        path.hasPrefix("/") ? path : FileManager.default.currentDirectoryPath + "/" + path
    }

    /// `812 KiB`, `3.1 GiB`.
    static func size(_ bytes: Int64) -> String {
        if bytes < 10 << 20 { return "\((bytes + 1023) >> 10) KiB" }
        if bytes < 10 << 30 { return "\(bytes >> 20) MiB" }
        return "\(bytes >> 30) GiB"
    }

    private static func duration(_ seconds: Double) -> String {
        seconds < 10 ? "\((seconds * 100).rounded() / 100) s" : "\(Int(seconds.rounded())) s"
    }
}
