import CSQLite
import Cryptography
import FoundationEssentials
import Glibc
import HTTP
import JSON
import Server
import Sessions
import Sockets
import Locks
import Telemetry

@testable import Configuration
@testable import sojourn

/// A folder of one test, gone with it.
final class StartingFolder: Sendable {
    let path: String

    init() {
        // Short: a Unix socket's path must fit into 107 bytes.
        path = "/tmp/sojourn-test-" + Hex.encode(RandomSource.system.bytes(6))
        mkdir(path, 0o700)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    func file(_ name: String) -> String { path + "/" + name }

    /// The names of the files in it.
    var names: [String] { (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? [] }

    func exists(_ name: String) -> Bool { FileManager.default.fileExists(atPath: file(name)) }

    func write(_ name: String, _ text: String, mode: UInt32 = 0o600) {
        _ = FileManager.default.createFile(atPath: file(name), contents: Data(text.utf8))
        chmod(file(name), mode_t(mode))
    }

    func text(_ name: String) -> String? {
        FileManager.default.contents(atPath: file(name)).map { String(decoding: $0, as: UTF8.self) }
    }

    func mode(_ name: String) -> UInt32 {
        var status = stat()
        return stat(file(name), &status) == 0 ? UInt32(status.st_mode & 0o7777) : 0
    }

    /// A configuration with free ports and the database `db` in this folder.
    var configuration: ServerConfiguration {
        var configuration = ServerConfiguration()
        configuration.database.path = file("db")
        configuration.server.publicListen = .ipv4(bytes: [127, 0, 0, 1], port: 0)
        configuration.server.adminListen = .ipv4(bytes: [127, 0, 0, 1], port: 0)
        configuration.limits.eventLoops = 1
        return configuration
    }

    /// Runs a statement on the database `db`, as another program could.
    func execute(_ statement: String) -> Bool {
        var connection: OpaquePointer?
        defer { sqlite3_close(connection) }
        return sqlite3_open(file("db"), &connection) == SQLITE_OK
            && sqlite3_exec(connection, statement, nil, nil, nil) == SQLITE_OK
    }
}

/// A clock that a test moves.
final class StartingClock: Sendable {
    private let seconds = Locked<Int64>(1_800_000_000)

    var wall: WallClock { WallClock { Instant(secondsSinceEpoch: self.seconds.withLock { $0 }) } }

    private let jumps = Locked<Int64>(0)

    /// Time passes.
    func advance(_ duration: Duration) { seconds.withLock { $0 += duration.components.seconds } }

    /// The clock is set, forwards or backwards, and no time passes.
    func jump(_ duration: Duration) {
        advance(duration)
        jumps.withLock { $0 += duration.components.seconds }
    }

    /// A clock that cannot be set.
    var secondsPassed: Int64 { seconds.withLock { $0 } - jumps.withLock { $0 } }

    func environment(rootKey: String? = nil, adminKey: String? = nil) -> Environment {
        Environment(
            clock: wall, secondsPassed: { self.secondsPassed }, logger: .silent, rootKeyVariable: rootKey,
            adminKeyVariable: adminKey)
    }
}

/// Asks a server over a real socket.
func ask(
    _ method: HTTP.Method, _ url: String, bearer: String? = nil, _ body: String = ""
) throws -> (status: Int, json: JSONValue) {
    let authority = url.split(separator: "/")[1]
    let path = url.dropFirst("http://".count + authority.count)
    var fields = Fields()
    if let bearer { fields.append("Authorization", "Bearer \(bearer)") }
    if !body.isEmpty { fields.append("Content-Type", "application/json") }
    let response = try HTTPExchange.send(
        Request(method, String(path), fields: fields, body: Array(body.utf8)), to: SocketAddress(String(authority)))
    return (response.status.code, JSONValue(text: response.body) ?? .null)
}
