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

    /// The one true path of a file that may not exist yet.
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

    /// Whether two paths name one file, be it by two links.
    static func isSame(_ one: String, _ other: String) -> Bool {
        var (first, second) = (stat(), stat())
        return unsafe stat(one, &first) == 0 && stat(other, &second) == 0 && first.st_ino == second.st_ino
            && first.st_dev == second.st_dev
    }

    /// Whether there is anything at `path`.
    static func exists(_ path: String) -> Bool {
        var status = stat()
        return unsafe lstat(path, &status) == 0
    }

    /// Makes names that were given or taken in the folder of `path` durable.
    static func syncFolder(of path: String) {
        let descriptor = unsafe open(folder(of: path), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        fsync(descriptor)
        Glibc.close(descriptor)
    }

    /// The bytes that can be written in the folder of `path`; nil if the system does not say.
    static func freeBytes(besides path: String) -> Int64? {
        var status = statvfs()
        guard unsafe statvfs(folder(of: path), &status) == 0 else { return nil }
        return Int64(clamping: UInt64(status.f_bavail) * UInt64(status.f_frsize))
    }

    /// Whether the file at `path` begins as every database of ours does: SQLite's name, and our id (see migration 1).
    static func isOurs(_ path: String) -> Bool {
        let header = header(path)
        return header.starts(with: Array("SQLite format 3\0".utf8)) && header[68..<72] == [0x53, 0x6F, 0x6A, 0x72]
    }

    /// Whether the header says that changes go to a write-ahead log first (its format version, for writing, is 2).
    static func isWriteAheadLogged(_ path: String) -> Bool { header(path)[18] == 2 }

    /// The first 100 bytes of the file; zeros for what cannot be read. Not for a database that this process has open:
    /// closing any descriptor of a file gives up the process's POSIX locks on it.
    private static func header(_ path: String) -> [UInt8] {
        var header = [UInt8](repeating: 0, count: 100)
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { return header }
        defer { Glibc.close(descriptor) }
        _ = unsafe read(descriptor, &header, header.count)
        return header
    }

    /// The bytes that the file at `path` takes; 0 when there is none.
    static func size(_ path: String) -> Int64 {
        var status = stat()
        return unsafe stat(path, &status) == 0 ? Int64(status.st_size) : 0
    }

    /// What the operating system calls an error.
    static func text(of code: Int32) -> String { unsafe String(cString: strerror(code)) }
}
