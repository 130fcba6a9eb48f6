internal import FoundationEssentials
internal import Glibc

/// The file with the addresses of a server, which exists while the server answers. A test or a supervisor that starts a server
/// on free ports waits for this file.
struct ReadyFile {
    let path: String

    private struct Content: Codable {
        var `public`: String
        var admin: String
        var pid: Int32
    }

    /// Writes the file in one step, so that a reader never finds half of it.
    func write(_ addresses: Addresses) throws(PrivateFile.Failure) {
        let content = Content(public: addresses.public, admin: addresses.admin, pid: getpid())
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        guard let json = try? encoder.encode(content) else { return }
        try PrivateFile.replace(path, Array(json) + Array("\n".utf8), mode: 0o644)
    }

    /// Removes the file, unless a successor has replaced it.
    func remove() {
        let bytes = try? PrivateFile.read(path) { (_) throws(PrivateFile.Failure) in }
        guard let bytes, let content = try? JSONDecoder().decode(Content.self, from: Data(bytes)),
            content.pid == getpid()
        else { return }
        PrivateFile.remove(path)
    }
}

/// The addresses of a server.
public struct Addresses: Hashable, Sendable {
    /// The base URL of the public listener.
    public let `public`: String
    /// The base URL of the admin listener.
    public let admin: String
    /// The path of the admin Unix socket.
    public let adminSocket: String
}
