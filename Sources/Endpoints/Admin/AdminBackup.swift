internal import HTTP
public import Sessions

/// Copies the database to a file while the server runs. PostgreSQL has no such service, because it has backup tools of its own.
public protocol BackupService: Sendable {
    /// Begins a backup to `file` (an absolute path). Returns false if another backup is running.
    func start(file: String, replacing: Bool, by origin: Origin) -> Bool

    /// The status of the last backup; nil before the first one.
    var status: BackupStatus? { get }
}

/// The status of a backup, as `GET /admin/v1/backup` answers it.
public struct BackupStatus: Encodable, Hashable, Sendable {
    /// The state of a backup.
    public enum State: String, Encodable, Sendable {
        case running
        case done
        /// The request cannot succeed as it is, so the caller has to change it.
        case refused
        /// The backup failed for a reason on the server's side, such as a full disk or a damaged database.
        case failed
    }

    /// The state of the backup.
    public var state: State
    /// The absolute path of the backup file.
    public var file: String
    /// The number of pages copied so far, while the backup runs.
    public var pages: Int?
    /// The number of pages of the database, while the backup runs.
    public var pagesTotal: Int?
    /// The size of the finished file in bytes.
    public var bytes: Int64?
    /// The duration of the finished backup in seconds.
    public var seconds: Double?
    /// The reason why the backup failed or was refused.
    public var detail: String?

    /// Creates the status of a backup to `file`.
    public init(_ state: State, file: String) {
        self.state = state
        self.file = file
    }

    enum CodingKeys: String, CodingKey {
        case state, file, pages, bytes, seconds, detail
        case pagesTotal = "pages_total"
    }
}

// Both calls exist only on the admin socket, because the server writes the file with the rights of its own user, and only that
// user can open the socket. An admin key does not allow them.
extension Endpoints {
    /// `POST /admin/v1/backup` `{file, replace?}`: begins a backup. `GET` reports its progress.
    func startBackup(_ call: Call) async throws -> Response {
        guard call.caller.listener == .adminSocket else { return Self.localOnly }
        let members = try Members(call, known: ["file", "replace"])
        guard let backups else { return Self.noBackups }
        let file = try members.requiredString("file")
        // A relative path is refused, because the working directory of the server differs from that of the caller.
        guard file.hasPrefix("/"), file.utf8.count < 4096, !file.utf8.contains(0) else {
            throw members.refused("file", "must be an absolute path")
        }
        guard backups.start(file: file, replacing: try members.bool("replace") ?? false, by: call.origin) else {
            throw ServiceError.conflict(code: "backup_running", detail: "a backup is running already")
        }
        return try .json(backups.status ?? BackupStatus(.running, file: file), .accepted)
    }

    /// `GET /admin/v1/backup`: answers the status of the last backup.
    func showBackup(_ call: Call) async throws -> Response {
        guard call.caller.listener == .adminSocket else { return Self.localOnly }
        guard let backups else { return Self.noBackups }
        guard let status = backups.status else { throw ServiceError.notFound("backup") }
        return try .json(status)
    }

    private static var localOnly: Response {
        Problem(
            .forbidden, code: "local_only",
            detail: "Backups are made on the server's machine, as its user: sojourn backup FILE."
        ).response
    }

    private static var noBackups: Response {
        Problem(
            .conflict, code: "no_backup",
            detail:
                "This database is backed up by its own tools; for PostgreSQL: pg_dump, or its archive of the log."
        ).response
    }
}

extension Route {
    static let startBackup = Route(
        .post, "/admin/v1/backup", on: .admin, .admin(.owner) { try await $0.startBackup($1) },
        Operation(
            "start_backup", .operation, "Begin a backup",
            "Only through the admin socket beside the database; no key works elsewhere.",
            takes: .json("NewBackup"), answers: [.json("Backup", "It has begun.", status: 202)],
            errors: [.localOnly, .backupConflict]))

    static let showBackup = Route(
        .get, "/admin/v1/backup", on: .admin, .admin(.read) { try await $0.showBackup($1) },
        Operation(
            "show_backup", .operation, "Show the last backup",
            "Only through the admin socket beside the database.",
            answers: [.json("Backup", "The state of the backup.")], errors: [.localOnly, .notFound, .backupConflict]))
}
