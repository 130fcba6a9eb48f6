internal import Glibc

/// Reads and writes files that are complete or absent, mostly with access only for their owner.
enum PrivateFile {
    /// The failure of a system call, in the words of the system.
    struct Failure: Error {
        let code: Int32
        var isMissing: Bool { code == ENOENT }
        var exists: Bool { code == EEXIST }
        var description: String { String(cString: strerror(code)) }

        /// The failure of the call just made.
        static var last: Failure { Failure(code: errno) }
    }

    /// The type of a file, its mode and its owner.
    struct Status {
        let isRegular: Bool
        let mode: UInt32
        let owner: UInt32
    }

    /// Reads a complete file of at most `limit` bytes. `check` can refuse the open file before it is read.
    static func read<Problem: Error>(
        _ path: String, limit: Int = 1 << 20, check: (Status) throws(Problem) -> Void
    ) throws(ReadFailure<Problem>) -> [UInt8] {
        // Non-blocking, so that a pipe in its place cannot hang the start.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw .system(.last) }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw .system(.last) }
        do throws(Problem) {
            try check(
                Status(
                    isRegular: status.st_mode & S_IFMT == S_IFREG, mode: UInt32(status.st_mode & 0o7777),
                    owner: UInt32(status.st_uid)))
        } catch { throw .refused(error) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65536)
        while true {
            let count = Glibc.read(descriptor, &buffer, buffer.count)
            if count < 0 && errno == EINTR { continue }
            guard count >= 0 else { throw .system(.last) }
            if count == 0 { return bytes }
            bytes += buffer.prefix(count)
            guard bytes.count <= limit else { throw .system(Failure(code: EFBIG)) }
        }
    }

    /// The text of a small file, such as a secret.
    static func text(_ path: String, limit: Int = 4096) throws(Failure) -> String {
        do throws(ReadFailure<Never>) {
            return String(decoding: try read(path, limit: limit) { _ in }, as: UTF8.self)
        } catch {
            switch error {
            case .system(let failure): throw failure
            }
        }
    }

    /// The reason why `read` failed.
    enum ReadFailure<Problem: Error>: Error {
        case system(Failure)
        case refused(Problem)
    }

    /// Creates a file of mode 0600, which must not exist. It is durable when this returns.
    static func create(_ path: String, _ bytes: [UInt8]) throws(Failure) {
        let draft = try writeDraft(of: path, bytes, mode: 0o600)
        defer { unlink(draft) }
        guard link(draft, path) == 0 else { throw .last }
        syncFolder(of: path)
    }

    /// Creates or replaces a file in one step.
    static func replace(_ path: String, _ bytes: [UInt8], mode: UInt32) throws(Failure) {
        let draft = try writeDraft(of: path, bytes, mode: mode)
        guard rename(draft, path) == 0 else {
            let failure = Failure.last
            unlink(draft)
            throw failure
        }
    }

    /// Removes the file, if it exists.
    static func remove(_ path: String) { unlink(path) }

    private static func writeDraft(of path: String, _ bytes: [UInt8], mode: UInt32) throws(Failure) -> String {
        let draft = "\(path).\(getpid()).new"
        unlink(draft)
        let descriptor = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode_t(mode))
        guard descriptor >= 0 else { throw .last }
        defer { close(descriptor) }
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { try abandon(draft) }
            rest = rest.dropFirst(count)
        }
        guard fsync(descriptor) == 0 else { try abandon(draft) }
        return draft
    }

    private static func abandon(_ draft: String) throws(Failure) -> Never {
        let failure = Failure.last
        unlink(draft)
        throw failure
    }

    /// A new name is durable once its folder is.
    private static func syncFolder(of path: String) {
        let folder = path.lastIndex(of: "/").map { String(path[..<path.index(after: $0)]) } ?? "."
        let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        fsync(descriptor)
        close(descriptor)
    }
}
