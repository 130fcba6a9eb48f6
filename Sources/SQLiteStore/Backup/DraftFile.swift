internal import Glibc

/// A file that has a temporary name until it is complete, so that the final name always leads to a complete, durable file. Only
/// its owner can read it.
final class DraftFile {
    /// The temporary path.
    let path: String
    private let target: String
    /// Open from before SQLite opens the file until after SQLite has closed it.
    private let descriptor: Int32

    /// The temporary path for `target`.
    static func path(of target: String) -> String { target + ".partial" }

    /// Creates the draft of `target`, and removes an earlier one.
    init(of target: String) throws(BackupError) {
        self.target = target
        path = Self.path(of: target)
        unsafe unlink(path)
        descriptor = unsafe open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            if errno == ENOENT { throw .open(.directoryMissing(path: target)) }
            throw .failed(path: target, reason: DatabaseFile.text(of: errno))
        }
    }

    deinit {
        Glibc.close(descriptor)
        for ending in ["", "-wal", "-shm"] { unsafe unlink(path + ending) }
    }

    /// Waits until the content is durable.
    func sync() throws(BackupError) {
        guard fsync(descriptor) == 0 else { throw .failed(path: target, reason: DatabaseFile.text(of: errno)) }
    }

    /// Renames the file to its final name in one step. Without `replacing`, a file that another process has created meanwhile
    /// is kept, and the call throws.
    func publish(replacing: Bool) throws(BackupError) {
        try sync()
        let code = replacing ? unsafe rename(path, target) : unsafe link(path, target)
        guard code == 0 else {
            if errno == EEXIST { throw .exists(path: target) }
            throw .failed(path: target, reason: DatabaseFile.text(of: errno))
        }
        DatabaseFile.syncFolder(of: target)
    }
}
