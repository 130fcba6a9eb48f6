internal import Glibc
internal import Locks

/// Excludes a second process from the database, for two reasons. SQLite before 3.51.3 can damage a file when two processes
/// restart its write-ahead log at the same moment, and the copies of settings and clients in memory are valid for only one
/// process.
///
/// It is an advisory lock on a file beside the database (`flock`), which the kernel releases when the process ends for any
/// reason. The file is never deleted, because two processes could then lock two files of one name.
final class FileLock: Sendable {
    private let descriptor: Locked<Int32?>

    /// Acquires the lock, or throws at once.
    init(path: String, database: String) throws(OpenError) {
        let opened = unsafe open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard opened >= 0 else { throw .inaccessible(path: path, reason: DatabaseFile.text(of: errno)) }
        guard flock(opened, LOCK_EX | LOCK_NB) == 0 else {
            let code = errno
            Glibc.close(opened)
            if code == EWOULDBLOCK { throw .alreadyOpen(path: database) }
            throw .inaccessible(path: path, reason: DatabaseFile.text(of: code))
        }
        descriptor = Locked(opened)
    }

    deinit { release() }

    /// Releases the lock. Further calls do nothing.
    func release() {
        if let opened = descriptor.withLock({ $0.take() }) { Glibc.close(opened) }
    }
}
