internal import Glibc

/// A copy of a file that nobody else can change, or even find: it goes with the last who has it open or mapped.
///
/// A mapped file that somebody shortens, as `cp` and `curl -o` do before they write it anew, kills whoever reads it.
struct FileCopy: ~Copyable {
    private let descriptor: Int32
    /// What was copied.
    let version: FileVersion

    /// Where it can be opened.
    var path: String { "/proc/self/fd/\(descriptor)" }

    /// Copies the file at `path` into a file without a name in `folder`.
    init(of path: String, in folder: String) throws(GeoDatabaseError) {
        // Non-blocking, so that a pipe in its place cannot hang the start.
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
