internal import Endpoints
internal import Locks
internal import SQLiteStore
internal import Sessions
internal import Telemetry

/// Makes backups of the open database, one at a time, and keeps the status of the last one.
final class Backups: BackupService {
    private let store: SQLiteStore
    private let logger: Logger
    private let last = Locked<BackupStatus?>(nil)

    init(_ store: SQLiteStore, logger: Logger) {
        self.store = store
        self.logger = logger
    }

    var status: BackupStatus? { last.withLock { $0 } }

    func start(file: String, replacing: Bool, by origin: Origin) -> Bool {
        let isFree = last.withLock { last in
            if last?.state == .running { return false }
            last = BackupStatus(.running, file: file)
            return true
        }
        guard isFree else { return false }
        // The task outlives the request, because the backup of a large database takes longer than the request timeout.
        Task { await make(file, replacing, origin) }
        return true
    }

    private func make(_ file: String, _ replacing: Bool, _ origin: Origin) async {
        var status = BackupStatus(.done, file: file)
        var options = CopyOptions()
        options.progressed = { [last] progress in
            last.withLock { last in
                last?.pages = progress.pages
                last?.pagesTotal = progress.pagesTotal
            }
        }
        do throws(BackupError) {
            let backup = try await store.backUp(to: file, replacing: replacing, by: origin, options)
            status.bytes = backup.bytes
            status.seconds = backup.duration / .seconds(1)
            logger.notice(
                "backup made",
                ["file": .string(file), "bytes": .int(Int(backup.bytes)), "seconds": .double(status.seconds ?? 0)])
        } catch {
            status.state = error.isRefusal ? .refused : .failed
            status.detail = error.description
            logger.error("no backup was made", ["file": .string(file), "cause": .string(error.description)])
        }
        last.withLock { $0 = status }
    }
}
