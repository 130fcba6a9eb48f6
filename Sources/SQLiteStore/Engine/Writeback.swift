internal import CLinux
internal import Glibc
internal import Locks

/// Sends the changed pages of the database's file to the disk a few at a time. `fdatasync` alone sends all of them at once, and
/// a concurrent commit waits behind them: eight milliseconds for some hundreds of scattered pages.
///
/// This changes only the load of the disk; no page counts as durable before the sync that follows.
final class Writeback: Sendable {
    /// The largest number of pages that a commit waits for.
    private static let portion = 8

    private let descriptor: Locked<Int32?>

    /// Opens the file. This must happen before SQLite opens it, and `release` after SQLite has closed it, because closing any
    /// descriptor of a file releases the process's POSIX locks on it.
    init(path: String) throws(OpenError) {
        let opened = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard opened >= 0 else { throw .inaccessible(path: path, reason: DatabaseFile.text(of: errno)) }
        descriptor = Locked(opened)
    }

    deinit { release() }

    /// Sends the changed pages of the file, about `pages` of them. The sync that follows reports errors.
    func send(pages: Int) {
        guard let descriptor = descriptor.withLock({ $0 }) else { return }
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { return }
        let portions = max(1, pages / Self.portion)
        let length = Int64(status.st_size) / Int64(portions) + 1
        let flags = UInt32(CLinux_send | CLinux_wait)
        for portion in 0..<Int64(portions) {
            guard sync_file_range(descriptor, Int(portion * length), Int(length), flags) == 0 else { return }
        }
    }

    /// Closes the file. Further calls do nothing.
    func release() {
        if let opened = descriptor.withLock({ $0.take() }) { Glibc.close(opened) }
    }
}
