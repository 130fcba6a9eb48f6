import FoundationEssentials
internal import Glibc

/// The file that says where a server answers, there from the moment it does until it stops: a test or a supervisor that
/// started it on free ports waits for this file and never sleeps.
struct ReadyFile {
    /// Where it is.
    let path: String

    private struct Content: Codable {
        var `public`: String
        var admin: String
        var pid: Int32
    }

    /// Puts the file there in one step, so that nobody reads half of it.
    func write(_ addresses: Addresses) throws(PrivateFile.Failure) {
        let content = Content(public: addresses.public, admin: addresses.admin, pid: getpid())
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        guard let json = try? encoder.encode(content) else { return }
        try PrivateFile.replace(path, Array(json) + Array("\n".utf8), mode: 0o644)
    }

    /// Takes the file away, unless a successor has written its own.
    func remove() {
        let bytes = try? PrivateFile.read(path) { (_) throws(PrivateFile.Failure) in }
        guard let bytes, let content = try? JSONDecoder().decode(Content.self, from: Data(bytes)),
            content.pid == getpid()
        else { return }
        PrivateFile.remove(path)
    }
}

/// Where a server answers.
public struct Addresses: Hashable, Sendable {
    /// The base URL of the public listener.
    public let `public`: String
    /// The base URL of the admin listener.
    public let admin: String
    /// The path of the admin Unix socket.
    public let adminSocket: String
}
