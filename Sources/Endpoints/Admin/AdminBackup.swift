internal import HTTP
public import Sessions

/// What copies the database to a file while it serves. A database with tools of its own has none.
public protocol BackupService: Sendable {
    /// Begins a backup. False: one is being made already.
    func start(file: String, replacing: Bool, by origin: Origin) -> Bool

    /// How the last one stands; nil before the first.
    var status: BackupStatus? { get }
}

/// How a backup stands.
public struct BackupStatus: Encodable, Hashable, Sendable {
    /// Where it is.
    public enum State: String, Encodable, Sendable {
        case running
        case done
        /// Whoever asked has to ask for something else.
        case refused
        /// The machine is to blame.
        case failed
    }

    /// Where it is.
    public var state: State
    /// The file.
    public var file: String
    /// Pages that were copied, while it runs.
    public var pages: Int?
    /// All pages.
    public var pagesTotal: Int?
    /// The size of the file, when it is done.
    public var bytes: Int64?
    /// How long it took, when it is done.
    public var seconds: Double?
    /// Why it came to nothing.
    public var detail: String?

    /// A backup to `file`.
    public init(_ state: State, file: String) {
        self.state = state
        self.file = file
    }

    enum CodingKeys: String, CodingKey {
        case state, file, pages, bytes, seconds, detail
        case pagesTotal = "pages_total"
    }
}

// The server writes the file with its own rights, so only those may name it who have these rights themselves: the call
// works on the admin socket, which belongs to the server's user, and with no admin key.
extension Endpoints {
    /// `POST /admin/v1/backup` `{file, replace?}`: begins a backup; `GET` says how it goes on.
    func startBackup(_ call: Call) async throws -> Response {
        guard call.caller.listener == .adminSocket else { return Self.localOnly }
        let members = try Members(call, known: ["file", "replace"])
        guard let backups else { return Self.noBackups }
        let file = try members.requiredString("file")
        // The working directory of the server is not that of whoever asks.
        guard file.hasPrefix("/"), file.utf8.count < 4096, !file.utf8.contains(0) else {
            throw members.refused("file", "must be an absolute path")
        }
        guard backups.start(file: file, replacing: try members.bool("replace") ?? false, by: call.origin) else {
            throw ServiceError.conflict(code: "backup_running", detail: "a backup is being made already")
        }
        return try .json(backups.status ?? BackupStatus(.running, file: file), .accepted)
    }

    /// `GET /admin/v1/backup`: how the last backup stands.
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
                "This database has tools of its own for backups; for PostgreSQL: pg_dump, or its archive of the log."
        ).response
    }
}
