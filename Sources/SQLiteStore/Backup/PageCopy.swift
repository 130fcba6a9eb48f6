internal import CSQLite

/// A copy of one database over another that goes on page by page (SQLite's online backup interface).
/// Safe to use: the pointer never leaves, and is valid from init to deinit.
@safe final class PageCopy {
    private let handle: OpaquePointer

    /// Takes over a copy that was just begun.
    init(_ handle: OpaquePointer) { unsafe self.handle = unsafe handle }

    /// A copy that is given up leaves a destination that is good for nothing.
    deinit { unsafe sqlite3_backup_finish(handle) }

    /// How many pages there are.
    var pages: Int { Int(unsafe sqlite3_backup_pagecount(handle)) }

    /// How many of them have been copied.
    var copied: Int { pages - Int(unsafe sqlite3_backup_remaining(handle)) }

    /// Copies up to `count` pages; false when the copy is whole.
    func step(_ count: Int32) throws(DatabaseError) -> Bool {
        let code = unsafe sqlite3_backup_step(handle, count)
        switch code {
        case SQLITE_OK: return true
        case SQLITE_DONE: return false
        default: throw .sqlite(code: code, message: unsafe String(cString: sqlite3_errstr(code)))
        }
    }
}
