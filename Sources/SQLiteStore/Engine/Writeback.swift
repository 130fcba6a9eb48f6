internal import CLinux
internal import Glibc
internal import Locks

/// Sends the changed pages of the database's file to the disk a few at a time. `fdatasync` alone sends all that there are at once,
/// and a commit that comes meanwhile waits behind them: eight milliseconds for some hundreds that lie apart.
///
/// Only how the disk is kept busy changes: nothing that is sent here counts as durable before the sync that follows.
final class Writeback: Sendable {
    /// A commit waits behind no more than so many pages.
    private static let portion = 8

    private let descriptor: Locked<Int32?>

    /// Opens the file. Before SQLite does, and to be released after it: closing any descriptor of a file gives up the process's
    /// POSIX locks on it.
    init(path: String) throws(OpenError) {
        let opened = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard opened >= 0 else { throw .inaccessible(path: path, reason: DatabaseFile.text(of: errno)) }
        descriptor = Locked(opened)
    }

    deinit { release() }

    /// Sends what was changed in the file, about `pages` pages, anywhere. An error is left to the sync that follows.
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

    /// Lets go. Once is enough.
    func release() {
        if let opened = descriptor.withLock({ $0.take() }) { Glibc.close(opened) }
    }
}
