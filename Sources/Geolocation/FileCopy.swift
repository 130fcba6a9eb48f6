internal import Glibc

/// An anonymous copy of a file, which no other process can change or find. It is deleted when the last descriptor or
/// mapping of it is closed.
///
/// The copy is needed because a process that reads a mapped file crashes if the file is truncated, as `cp` and `curl
/// -o` do before they write.
struct FileCopy: ~Copyable {
    private let descriptor: Int32
    /// The version of the copied file.
    let version: FileVersion

    /// The path at which the copy can be opened.
    var path: String { "/proc/self/fd/\(descriptor)" }

    /// Copies the file at `path` into an anonymous file in `folder`.
    init(of path: String, in folder: String) throws(GeoDatabaseError) {
        // Non-blocking, so that a pipe at this path cannot block the start.
        let source = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard source >= 0 else { throw .unreadable(Self.lastFailure) }
        defer { close(source) }
        var before = stat()
        guard unsafe fstat(source, &before) == 0 else { throw .unreadable(Self.lastFailure) }
        guard before.st_mode & S_IFMT == S_IFREG else { throw .unreadable("it is not a file") }
        let descriptor = try Self.nameless(in: folder)
        do throws(GeoDatabaseError) {
            while true {
                let count = sendfile(descriptor, source, nil, 1 << 24)
                if count < 0 && errno == EINTR { continue }
                guard count >= 0 else { throw .notCopied(folder: folder, Self.lastFailure) }
                if count == 0 { break }
            }
            var after = stat()
            guard unsafe fstat(source, &after) == 0, FileVersion(after) == FileVersion(before) else { throw .changing }
        } catch {
            close(descriptor)
            throw error
        }
        self.descriptor = descriptor
        version = FileVersion(before)
    }

    deinit { close(descriptor) }

    private static func nameless(in folder: String) throws(GeoDatabaseError) -> Int32 {
        var template = Array("\(folder)/.geo-XXXXXX".utf8CString)
        let descriptor = unsafe mkstemp(&template)
        guard descriptor >= 0 else { throw .notCopied(folder: folder, lastFailure) }
        unsafe unlink(template)
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        return descriptor
    }

    private static var lastFailure: String { unsafe String(cString: strerror(errno)) }
}
