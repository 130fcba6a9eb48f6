internal import Glibc
internal import Locks

/// Keeps a second process away from the database: SQLite before 3.51.3 can damage a file when two processes restart its
/// write-ahead log at the same moment, and the copies of settings and clients in memory are right for one process only.
///
/// An advisory lock on a file beside the database (`flock`), which the kernel releases when the process ends, however it
/// ends. The file stays: deleting it would let two processes lock two files of one name.
final class FileLock: Sendable {
    private let descriptor: Locked<Int32?>

    /// Takes the lock, or throws at once.
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

    /// Lets go. Once is enough.
    func release() {
        if let opened = descriptor.withLock({ $0.take() }) { Glibc.close(opened) }
    }
}
