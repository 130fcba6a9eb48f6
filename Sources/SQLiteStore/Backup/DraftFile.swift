internal import Glibc

/// A file that is being written and has another name until it is whole: whoever finds the name finds all of it, on the
/// disk. Its owner's alone.
final class DraftFile {
    /// Where it is written.
    let path: String
    private let target: String
    /// Kept open from before SQLite opens the file until after it has closed it.
    private let descriptor: Int32

    /// Where the draft of `target` is written.
    static func path(of target: String) -> String { target + ".partial" }

    /// Makes the draft of `target`. What a draft before it has left is removed.
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

    /// Waits until what was written is on the disk.
    func sync() throws(BackupError) {
        guard fsync(descriptor) == 0 else { throw .failed(path: target, reason: DatabaseFile.text(of: errno)) }
    }

    /// Gives the file its name, in one step. Without `replacing`, somebody else's file that came meanwhile stays.
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
