import FoundationEssentials
import Glibc
import Server
import Sessions
import Sockets
import Telemetry

/// `sojourn export` and `sojourn import`
enum TransferCommands {
    static let all = [export, importing]

    private static let options =
        Command.Option.configuration + [
            Command.Option("--root-key-file", "PATH", "the root keys (default: DATABASE.root-key)")
        ]

    private static let export = Command(
        path: ["export"],
        summary: "Writes users, sessions, clients, settings and keys as JSON lines.",
        options: options + [
            Command.Option("--output", "FILE", "where to; there only when it is whole (default: standard output)")
        ],
        discussion: """
            Each line is an object with a member 'type'; the last one, 'end', tells how many of each came. The file holds
            password hashes, hashes of keys, and signing keys sealed with the root key: keep it as secret as the database.
            The root key itself is not in it, and must go along: without it no token works. The audit trail stays here.
            No server may have a SQLite database open; of one that must not stop, export a backup ('sojourn backup'). A file of an
            earlier version is brought up to date first, as a start does: if it is your way back, export a copy of it.
            """,
        examples: [
            "sojourn export --output everything.jsonl",
            "sojourn export --database sqlite:backup.sqlite --root-key-file sojourn.sqlite.root-key | zstd > all.zst",
        ]
    ) { (arguments) async throws(Failure) in
        let application = try await open(arguments, mustExist: true)
        var failure: Failure?
        do throws(Failure) {
            var writer = try LineWriter(arguments.value("--output"))
            var exporter = Exporter(
                store: application.context.store, now: application.context.clock.now, progress: ProgressBar())
            try await exporter.run(program: Release.version, to: &writer)
            if let path = arguments.value("--output") {
                Terminal.writeError("\(exporter.summary) are in \(path); the root key must go along")
            }
        } catch { failure = error }
        await application.close()
        if let failure { throw failure }
    }

    private static let importing = Command(
        path: ["import"],
        summary: "Reads an export, or the users and tokens of another system, into the database.",
        operands: ["FILE"],
        options: options + [
            Command.Option(
                "--replace", nil,
                "overwrite users, clients, settings and keys that are here, and bring back deleted ones")
        ],
        discussion: """
            FILE is what 'sojourn export' has written, or JSON lines of your own; '-' is standard input. It can be run again
            and again, after an interruption too: what is here stays, and what was deleted or ended here stays so, as long as
            the audit trail tells of it. Of what is here, only sessions that have gone further in the file, ends, and logins
            that were switched off are taken over; settings and clients too while there is no user. A user whom the source
            has changed since an earlier import, or deleted, is not: the one is what '--replace' is for, the other must be
            done again here. A line that is wrong is told with its number and left out, and the exit code is then 4.
            Of an export, the root key must be in place first (DATABASE.root-key, or --root-key-file): then nobody is logged
            out.
            Your own lines: {"type":"user","username":"ada","password_hash":"$2b$12$…"}, with bcrypt, scrypt, or PBKDF2 of
            SHA-256 or SHA-512, and
            {"type":"foreign_token","sha256":"…","username":"ada","device_id":"phone-1","started_at":1700000000}, with which a
            refresh token of the other system, of which this is the SHA-256, is exchanged once for a session.
            """,
        examples: ["sojourn import everything.jsonl", "zstdcat all.zst | sojourn import -"]
    ) { (arguments) async throws(Failure) in
        var reader = try LineReader(arguments.operands[0])
        try checkRootKey(try reader.peek(2), arguments)
        let application = try await open(arguments, mustExist: false)
        if let key = application.firstAdminKey { ServeCommand.tellAdminKey(key) }
        let context = application.context
        var importer = Importer(
            store: context.store, absoluteMaximum: context.policy.absoluteMaximum, now: context.clock.now,
            replaces: arguments.has("--replace"), progress: ProgressBar(), canOpen: context.signingKeys.canOpen,
            tell: Terminal.writeError)
        var failure: Failure?
        do throws(Failure) { try await importer.run(&reader) } catch { failure = error }
        await application.close()
        if let failure { throw failure }
        Terminal.write(
            "read \(TransferRecord.summary(importer.counts))"
                + (importer.keptCount > 0 ? "; \(importer.keptCount) were there already" : "")
                + (importer.differingCount > 0
                    ? "; \(importer.differingCount) are otherwise here or were deleted, and stay so (--replace)" : ""))
        if importer.refusedCount > 0 {
            throw Failure(
                .refused,
                "\(Formatting.count(importer.refusedCount, "line")) left out: mend them and import the file again")
        }
    }

    /// Before a new database makes keys of its own: an export needs the root key of the server that it comes from.
    private static func checkRootKey(_ firstLines: [ArraySlice<UInt8>], _ arguments: Arguments) throws(Failure) {
        var records: [TransferRecord] = []
        for line in firstLines {
            let record = Result { () throws(LineProblem) in
                try TransferRecord(TransferLine(text: line), now: Instant(secondsSinceEpoch: 0))
            }
            if case .success(let record) = record { records.append(record) }
        }
        guard case .header? = records.first else { return }
        let configuration = try Setup.configuration(arguments)
        let keys: RootKeys?
        do throws(StartError) {
            keys = try Application.existingRootKeys(
                configuration, Environment.system(configuration.log, environment: Setup.environment))
        } catch { throw Failure(.failed, error.description) }
        guard let keys else {
            throw Failure(
                .refused,
                "this is an export, and there is no root key \(configuration.rootKeyFile): copy the root key of the server "
                    + "that made it there first, or nobody would stay logged in")
        }
        if case .signingKey(let key)? = records.last, !SigningKeys.canOpen(key, with: keys) {
            throw Failure(.refused, "line 2: \(Importer.wrongRootKey(key).detail)")
        }
    }

    /// Opens the database in this process.
    private static func open(_ arguments: Arguments, mustExist: Bool) async throws(Failure) -> Application {
        let configuration = try Setup.configuration(arguments)
        let socket = SocketAddress.unix(path: configuration.database.socketPath)
        // Nodes on PostgreSQL need not stop.
        if configuration.database.isFile, (try? ClientSocket(to: socket, timeout: .seconds(5))) != nil {
            throw Failure(
                .unavailable,
                "a server has the database \(configuration.database.path) open: stop it first, or export a backup of it "
                    + "('sojourn backup')")
        }
        return try await AdminConnection.application(configuration, mustExist: mustExist)
    }
}
