import Glibc

/// A socket that takes every connection and says nothing: a server on a machine that stands still.
public final class SilentServer: Sendable {
    /// Where it is, as a host in a URL.
    public let folder: String
    private let path: String
    private let listener: Int32

    /// Listens at a socket of its own.
    public init(port: Int = 5432) throws {
        var template = Array("/tmp/sojourn-silent-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw PostgresServer.NotStarted(description: "no temporary folder") }
        folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        path = "\(folder)/.s.PGSQL.\(port)"
        let end = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        listener = end
        guard WireTap.withAddress(path, { bind(end, $0, $1) }) == 0, listen(end, 64) == 0 else {
            throw PostgresServer.NotStarted(description: "no socket in \(folder)")
        }
    }

    deinit {
        close(listener)
        unlink(path)
        rmdir(folder)
    }
}
