import Configuration
import Glibc
import Server
import Sessions
import Sockets
import Telemetry
import Transfer

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
            Command.Option("--output", "FILE", "the file, which appears when it is complete (default: standard output)")
        ],
        discussion: """
            Each line is an object with a member 'type'; the last one, 'end', has the number of each type. The file holds
            password hashes, hashes of keys, and signing keys sealed with the root key: keep it as secret as the database.
            The root key itself is not in it. Move it along, because without it no token works. The audit trail is not
            exported.

            No server may have the SQLite database open; for a server that must not stop, export a backup of
            'sojourn backup'. The command migrates a file of an earlier version first, as a start does: if you need that file
            as the way back, export a copy of it.
            """,
        examples: [
            "sojourn export --output everything.jsonl",
            "sojourn export --database sqlite:backup.sqlite --root-key-file sojourn.sqlite.root-key | zstd > all.zst",
        ]
    ) { (arguments) async throws(Failure) in
        let application = try await open(arguments, mustExist: true)
        var failure: Failure?
        do throws(TransferError) {
            var writer = try LineWriter(arguments.value("--output"))
            var exporter = Exporter(
                store: application.context.store, now: application.context.clock.now, progress: ProgressBar())
            try await exporter.run(program: Release.version, to: &writer)
            if let path = arguments.value("--output") {
                Terminal.writeError("\(exporter.summary) are in \(path); move the root key along")
            }
        } catch { failure = Failure(error) }
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
            FILE is an export of 'sojourn export', or JSON lines of your own; '-' is standard input. For an export, the root
            key must be in place first (DATABASE.root-key, or --root-key-file), so that every user stays logged in.

            An import can be repeated, also after an interruption. It keeps what the database has, and does not bring back
            what was deleted or ended here, as long as the audit trail has the event. It updates existing rows only in these
            cases: sessions that the file has further refreshed, ends of sessions, and logins that were switched off. It
            replaces settings and clients while there is no user.

            An import does not update a user that changed at the source since an earlier import: '--replace' does. A user
            that was deleted at the source must be deleted here by hand. A wrong line is reported with its number and left
            out, and the exit code is then 4.

            Lines of your own are users and foreign tokens. Password hashes are bcrypt, scrypt, or PBKDF2 of SHA-256 or
            SHA-512. A foreign token is a refresh token of the other system, named by its SHA-256; an app exchanges it once
            for a session.

              {"type":"user","username":"ada","password_hash":"$2b$12$…"}
              {"type":"foreign_token","sha256":"…","username":"ada","device_id":"phone-1","started_at":1700000000}
            """,
        examples: ["sojourn import everything.jsonl", "zstdcat all.zst | sojourn import -"]
    ) { (arguments) async throws(Failure) in
        let path = arguments.operands[0]
        var reader = try step { () throws(TransferError) in try LineReader(path) }
        let firstLines = try step { () throws(TransferError) in try reader.peek(2) }
        try checkRootKey(firstLines, arguments)
        let application = try await open(arguments, mustExist: false)
        if let key = application.firstAdminKey { ServeCommand.tellAdminKey(key) }
        let context = application.context
        var importer = Importer(
            store: context.store, absoluteMaximum: context.policy.absoluteMaximum, now: context.clock.now,
            replaces: arguments.has("--replace"), progress: ProgressBar(), canOpen: context.signingKeys.canOpen,
            report: Terminal.writeError)
        var failure: Failure?
        do throws(TransferError) { try await importer.run(&reader) } catch { failure = Failure(error) }
        await application.close()
        if let failure { throw failure }
        Terminal.write(
            "read \(importer.summary)"
                + (importer.keptCount > 0 ? "; \(importer.keptCount) were there already" : "")
                + (importer.differingCount > 0
                    ? "; \(importer.differingCount) differ here or were deleted, and are kept so (--replace)" : ""))
        if importer.refusedCount > 0 {
            throw Failure(
                .refused,
                "\(Formatting.count(importer.refusedCount, "line")) left out: mend them and import the file again")
        }
    }

    /// Runs a step of a transfer; its error is the failure of the command.
    private static func step<Value: ~Copyable>(
        _ body: () throws(TransferError) -> Value
    ) throws(Failure) -> Value {
        do throws(TransferError) { return try body() } catch { throw Failure(error) }
    }

    /// Checks, before a new database creates its own keys, that the root key opens the signing keys of the export.
    private static func checkRootKey(_ firstLines: [ArraySlice<UInt8>], _ arguments: Arguments) throws(Failure) {
        guard let head = TransferHead(firstLines) else { return }
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
                    + "that made it there first, so that users stay logged in")
        }
        if let key = head.signingKey, !SigningKeys.canOpen(key, with: keys) {
            throw Failure(.refused, "line 2: \(TransferHead.wrongRootKey(key))")
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

extension Failure {
    /// The failure of a command for the error of a transfer.
    fileprivate init(_ error: TransferError) {
        let code: ExitCode =
            switch error.kind {
            case .failed: .failed
            case .notFound: .notFound
            case .refused: .refused
            case .unavailable: .unavailable
            }
        self.init(code, error.detail)
    }
}
