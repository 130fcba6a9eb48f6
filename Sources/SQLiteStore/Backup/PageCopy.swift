internal import CSQLite

/// A copy of one database over another, page by page (SQLite's online backup interface).
/// Safe to use: the pointer stays in this type, and is valid from init to deinit.
@safe final class PageCopy {
    private let handle: OpaquePointer

    /// Takes ownership of a copy that was just begun.
    init(_ handle: OpaquePointer) { unsafe self.handle = unsafe handle }

    /// Ends the copy. An unfinished copy leaves an invalid destination.
    deinit { unsafe sqlite3_backup_finish(handle) }

    /// The number of pages.
    var pages: Int { Int(unsafe sqlite3_backup_pagecount(handle)) }

    /// The number of copied pages.
    var copied: Int { pages - Int(unsafe sqlite3_backup_remaining(handle)) }

    /// Copies up to `count` pages. False when the copy is complete.
    func step(_ count: Int32) throws(DatabaseError) -> Bool {
        let code = unsafe sqlite3_backup_step(handle, count)
        switch code {
        case SQLITE_OK: return true
        case SQLITE_DONE: return false
        default: throw .sqlite(code: code, message: unsafe String(cString: sqlite3_errstr(code)))
        }
    }
}
