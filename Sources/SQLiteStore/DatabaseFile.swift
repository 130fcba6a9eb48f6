internal import Glibc

/// The database's place in the file system.
enum DatabaseFile {
    /// Makes sure that the file exists, readable by its owner alone; returns its one true path, so that two names of
    /// one file share a lock.
    static func create(_ path: String) throws(OpenError) -> String {
        let descriptor = unsafe open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            let code = errno
            if code == ENOENT { throw .directoryMissing(path: path) }
            throw .inaccessible(path: path, reason: text(of: code))
        }
        // Before SQLite opens it: closing any descriptor of a file gives up the process's POSIX locks on it.
        Glibc.close(descriptor)
        guard let resolved = unsafe realpath(path, nil) else {
            throw .inaccessible(path: path, reason: text(of: errno))
        }
        defer { unsafe free(resolved) }
        return unsafe String(cString: resolved)
    }

    /// The bytes that the file at `path` takes; 0 when there is none.
    static func size(_ path: String) -> Int64 {
        var status = stat()
        return unsafe stat(path, &status) == 0 ? Int64(status.st_size) : 0
    }

    /// What the operating system calls an error.
    static func text(of code: Int32) -> String { unsafe String(cString: strerror(code)) }
}
