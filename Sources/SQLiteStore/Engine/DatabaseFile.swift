internal import Glibc

/// The database's file in the file system.
enum DatabaseFile {
    /// Creates the file if it does not exist, readable only by its owner. Returns its resolved path, so that two names of one
    /// file share a lock.
    static func create(_ path: String) throws(OpenError) -> String {
        let descriptor = unsafe open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            let code = errno
            if code == ENOENT { throw .directoryMissing(path: path) }
            throw .inaccessible(path: path, reason: text(of: code))
        }
        // Closed before SQLite opens the file, because closing any descriptor of a file releases the process's POSIX locks on
        // it.
        Glibc.close(descriptor)
        guard let resolved = unsafe realpath(path, nil) else {
            throw .inaccessible(path: path, reason: text(of: errno))
        }
        defer { unsafe free(resolved) }
        return unsafe String(cString: resolved)
    }

    /// The resolved path of a file that may not exist yet.
    static func resolve(_ path: String) throws(OpenError) -> String {
        if let resolved = unsafe realpath(path, nil) {
            defer { unsafe free(resolved) }
            return unsafe String(cString: resolved)
        }
        guard errno == ENOENT else { throw .inaccessible(path: path, reason: text(of: errno)) }
        let name = path.lastIndex(of: "/").map { String(path[path.index(after: $0)...]) } ?? path
        guard let resolved = unsafe realpath(folder(of: path), nil) else { throw .directoryMissing(path: path) }
        defer { unsafe free(resolved) }
        let folder = unsafe String(cString: resolved)
        return folder.hasSuffix("/") ? folder + name : folder + "/" + name
    }

    /// The folder of the file, as a path.
    static func folder(of path: String) -> String { path.lastIndex(of: "/").map { String(path[...$0]) } ?? "." }

    /// Whether two paths name one file, also by two links.
    static func isSame(_ one: String, _ other: String) -> Bool {
        var (first, second) = (stat(), stat())
        return unsafe stat(one, &first) == 0 && stat(other, &second) == 0 && first.st_ino == second.st_ino
            && first.st_dev == second.st_dev
    }

    /// Whether `path` exists, as a file of any kind.
    static func exists(_ path: String) -> Bool {
        var status = stat()
        return unsafe lstat(path, &status) == 0
    }

    /// Makes new and removed names in the folder of `path` durable.
    static func syncFolder(of path: String) {
        let descriptor = unsafe open(folder(of: path), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        fsync(descriptor)
        Glibc.close(descriptor)
    }

    /// The free space in bytes in the folder of `path`; nil if the system does not say.
    static func freeBytes(besides path: String) -> Int64? {
        var status = statvfs()
        guard unsafe statvfs(folder(of: path), &status) == 0 else { return nil }
        return Int64(clamping: UInt64(status.f_bavail) * UInt64(status.f_frsize))
    }

    /// Whether the file at `path` begins like every database of this program: with SQLite's magic text and this program's
    /// application id (see migration 1).
    static func isOurs(_ path: String) -> Bool {
        let header = header(path)
        return header.starts(with: Array("SQLite format 3\0".utf8)) && header[68..<72] == [0x53, 0x6F, 0x6A, 0x72]
    }

    /// Whether the header says that the database uses a write-ahead log (its format version for writing is 2).
    static func isWriteAheadLogged(_ path: String) -> Bool { header(path)[18] == 2 }

    /// The first 100 bytes of the file, with zeros for bytes that cannot be read. Not for a database that this process has
    /// open, because closing any descriptor of a file releases the process's POSIX locks on it.
    private static func header(_ path: String) -> [UInt8] {
        var header = [UInt8](repeating: 0, count: 100)
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { return header }
        defer { Glibc.close(descriptor) }
        _ = unsafe read(descriptor, &header, header.count)
        return header
    }

    /// The size of the file at `path` in bytes; 0 if there is none.
    static func size(_ path: String) -> Int64 {
        var status = stat()
        return unsafe stat(path, &status) == 0 ? Int64(status.st_size) : 0
    }

    /// The operating system's text for an error code.
    static func text(of code: Int32) -> String { unsafe String(cString: strerror(code)) }
}
