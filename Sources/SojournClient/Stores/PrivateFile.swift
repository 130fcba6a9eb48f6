#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

/// A small file in a folder that only its owner can read (0600 in 0700). It is replaced as a whole and durably, or not at all.
package struct PrivateFile: Sendable {
    /// The steps of a replacement. Tests end the process at each.
    package enum Step: String, Sendable, CaseIterable {
        case locked, tempWritten, tempSynced, renamed, folderSynced
    }

    /// A failed call of the operating system.
    package struct Failure: Error, Hashable {
        /// The value of `errno`.
        package var code: Int32
        /// What was tried.
        package var action: String
        /// Whether the user has no right to the file.
        package var isDenial: Bool { [EACCES, EPERM, EROFS].contains(code) }
        /// Whether the file is too long to be read.
        package var isOversize: Bool { code == EFBIG && action == "read" }
    }

    /// The longest file that is read.
    package static let countMax = 1 << 20

    let folder: String
    let name: String
    /// Called after each step of a replacement. A test that makes a call fail throws.
    let observe: @Sendable (Step) throws(Failure) -> Void
    /// Waits until the content of an open file or folder is on the medium; -1 if it fails.
    let flush: @Sendable (Int32) -> Int32

    var path: String { folder + "/" + name }

    package init(
        folder: String, name: String, observe: @escaping @Sendable (Step) throws(Failure) -> Void = { _ in },
        flush: @escaping @Sendable (Int32) -> Int32 = { Self.flush($0) }
    ) {
        self.folder = folder
        self.name = name
        self.observe = observe
        self.flush = flush
    }

    /// The content; nil if there is no file.
    package func read() throws(Failure) -> [UInt8]? {
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard file >= 0 else {
            if errno == ENOENT { return nil }
            throw Failure(code: errno, action: "open")
        }
        defer { _ = close(file) }
        var content: [UInt8] = []
        var part = [UInt8](repeating: 0, count: 16_384)
        while true {
            #if canImport(Darwin)
                let count = Darwin.read(file, &part, part.count)
            #elseif canImport(Glibc)
                let count = Glibc.read(file, &part, part.count)
            #elseif canImport(Musl)
                let count = Musl.read(file, &part, part.count)
            #endif
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw Failure(code: errno, action: "read") }
            guard count > 0 else { return content }
            content += part.prefix(count)
            guard content.count <= Self.countMax else { throw Failure(code: EFBIG, action: "read") }
        }
    }

    /// Replaces the file by what `change` makes of its content, and returns true; does nothing if `change` returns nil. No other
    /// process and no other task replaces it meanwhile.
    package func replace(
        _ change: @Sendable (_ content: [UInt8]?) throws(Failure) -> Replacement?
    ) throws(Failure) -> Bool {
        try makeFolder(folder)
        return try locked { () throws(Failure) in
            try observe(.locked)
            guard let replacement = try change(try read()) else { return false }
            switch replacement {
            case .content(let content): try write(content)
            case .none:
                guard unlink(path) == 0 || errno == ENOENT else { throw Failure(code: errno, action: "unlink") }
            }
            try observe(.renamed)
            try sync(folder: folder)
            try observe(.folderSynced)
            return true
        }
    }

    /// What a file is replaced by.
    package enum Replacement: Sendable {
        case content([UInt8])
        /// No file.
        case none
    }

    /// Renames the file if `isWanted` says so of its content (nil: too long to read). Returns the new name.
    package func moveAside(
        as newName: String, if isWanted: @Sendable (_ content: [UInt8]?) -> Bool
    ) throws(Failure) {
        try makeFolder(folder)
        try locked { () throws(Failure) in
            do throws(Failure) {
                guard let content = try read(), isWanted(content) else { return }
            } catch {
                guard error.isOversize, isWanted(nil) else { throw error }
            }
            guard rename(path, folder + "/" + newName) == 0 else { throw Failure(code: errno, action: "rename") }
            try sync(folder: folder)
        }
    }

    /// Runs `body` under the lock of the file, which is a file of its own, because the file itself is replaced.
    private func locked<Result>(_ body: () throws(Failure) -> Result) throws(Failure) -> Result {
        let file = open(path + ".lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard file >= 0 else { throw Failure(code: errno, action: "open the lock") }
        // The end of the process, whatever ends it, gives the lock back as well.
        defer { _ = close(file) }
        while flock(file, LOCK_EX) != 0 {
            guard errno == EINTR else { throw Failure(code: errno, action: "lock") }
        }
        return try body()
    }

    /// Writes the content beside the file, and renames it over the file when it is durable.
    private func write(_ content: [UInt8]) throws(Failure) {
        let temp = path + ".new"
        try fill(temp, content)
        guard rename(temp, path) == 0 else { throw Failure(code: errno, action: "rename") }
    }

    /// Writes a file durably. What a killed process has left under its name is written over, because the lock excludes that the
    /// process still runs.
    private func fill(_ path: String, _ content: [UInt8]) throws(Failure) {
        let file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard file >= 0 else { throw Failure(code: errno, action: "create") }
        defer { _ = close(file) }
        guard fchmod(file, 0o600) == 0 else { throw Failure(code: errno, action: "chmod") }
        var written = 0
        while written < content.count {
            let count = content[written...].withUnsafeBytes { part in
                #if canImport(Darwin)
                    Darwin.write(file, part.baseAddress, part.count)
                #elseif canImport(Glibc)
                    Glibc.write(file, part.baseAddress, part.count)
                #elseif canImport(Musl)
                    Musl.write(file, part.baseAddress, part.count)
                #endif
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw Failure(code: count < 0 ? errno : ENOSPC, action: "write") }
            written += count
        }
        try observe(.tempWritten)
        try sync(file)
        try observe(.tempSynced)
    }

    /// Creates the folder, and those above it.
    private func makeFolder(_ path: String) throws(Failure) {
        if mkdir(path, 0o700) == 0 { return try sync(folder: Self.parent(of: path)) }
        switch errno {
        case EEXIST, EISDIR: return
        case ENOENT where Self.parent(of: path) != path:
            try makeFolder(Self.parent(of: path))
            guard mkdir(path, 0o700) == 0 || errno == EEXIST else { throw Failure(code: errno, action: "mkdir") }
            try sync(folder: Self.parent(of: path))
        default:
            // A folder that exists on a file system without write access is good for reading.
            guard access(path, F_OK) == 0 else { throw Failure(code: errno, action: "mkdir") }
        }
    }

    private static func parent(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    private func sync(folder: String) throws(Failure) {
        let file = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard file >= 0 else { throw Failure(code: errno, action: "open the folder") }
        defer { _ = close(file) }
        try sync(file)
    }

    private func sync(_ file: Int32) throws(Failure) {
        guard flush(file) == 0 else { throw Failure(code: errno, action: "fsync") }
    }

    package static func flush(_ file: Int32) -> Int32 {
        #if canImport(Darwin)
            // On Apple platforms fsync leaves the content in the memory of the drive.
            if fcntl(file, F_FULLFSYNC) == 0 { return 0 }
        #endif
        return fsync(file)
    }
}
