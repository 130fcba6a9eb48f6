import Dispatch
import Glibc
import Synchronization

/// Stands between a store and the socket of its server: passes everything on, and counts what the store does.
public final class WireTap: Sendable {
    private final class Counts: Sendable {
        let connections = Atomic<Int>(0)
        let syncs = Atomic<Int>(0)
        let statements = Atomic<Int>(0)
        let refuses = Atomic<Bool>(false)
    }

    private let folder: String
    private let server: PostgresServer
    private let listener: Int32
    private let counts = Counts()

    /// Listens at a socket of its own in front of the one of `server`.
    public init(before server: PostgresServer) throws {
        var template = Array("/tmp/sojourn-tap-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw PostgresServer.NotStarted(description: "no temporary folder") }
        folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        self.server = server
        let end = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        listener = end
        let isBound = Self.withAddress(Self.path(folder, server)) { bind(end, $0, $1) }
        guard isBound == 0, listen(end, 64) == 0 else {
            throw PostgresServer.NotStarted(description: "no socket in \(folder)")
        }
        let (counts, path) = (counts, Self.path(server.folder, server))
        DispatchQueue(label: "tap").async { Self.accept(end, path, counts) }
    }

    /// A waiter at the socket is told; its thread closes it.
    deinit {
        shutdown(listener, Int32(SHUT_RDWR))
        unlink(Self.path(folder, server))
        rmdir(folder)
    }

    /// `url`, which names the server, through here.
    public func url(_ url: String) -> String { url.replacing(server.folder, with: folder) }

    /// How many connections were tried.
    public var connectionCount: Int { counts.connections.load(ordering: .acquiring) }

    /// How often statements were sent off to be answered: round trips.
    public var syncCount: Int { counts.syncs.load(ordering: .acquiring) }

    /// How many statements were sent to be executed.
    public var statementCount: Int { counts.statements.load(ordering: .acquiring) }

    /// From now on new connections are turned away, or let in.
    public func refuses(_ value: Bool) { counts.refuses.store(value, ordering: .releasing) }

    private static func path(_ folder: String, _ server: PostgresServer) -> String {
        "\(folder)/.s.PGSQL.\(server.port)"
    }

    static func withAddress(
        _ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
    ) -> Int32 {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
    }

    private static func accept(_ listener: Int32, _ path: String, _ counts: Counts) {
        while true {
            let client = Glibc.accept(listener, nil, nil)
            if client < 0 { break }
            counts.connections.wrappingAdd(1, ordering: .acquiringAndReleasing)
            let server = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
            let isWanted = !counts.refuses.load(ordering: .acquiring)
            guard isWanted, withAddress(path, { connect(server, $0, $1) }) == 0 else {
                close(client)
                close(server)
                continue
            }
            DispatchQueue(label: "tap connection").async { pass(client, server, counts) }
        }
        close(listener)
    }

    /// Passes on what comes from either end until one has closed.
    private static func pass(_ client: Int32, _ server: Int32, _ counts: Counts) {
        var messages = Messages()
        var bytes = [UInt8](repeating: 0, count: 65_536)
        var ends = [client, server].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        relaying: while poll(&ends, 2, -1) >= 0 {
            for (index, end) in ends.enumerated() where end.revents != 0 {
                let count = read(end.fd, &bytes, bytes.count)
                guard count > 0 else { break relaying }
                // Counted before the server can answer.
                if index == 0 {
                    let found = messages.count(in: bytes[..<count])
                    counts.syncs.wrappingAdd(found.syncs, ordering: .acquiringAndReleasing)
                    counts.statements.wrappingAdd(found.statements, ordering: .acquiringAndReleasing)
                }
                var sent = 0
                while sent < count {
                    let part = send(
                        ends[1 - index].fd, Array(bytes[sent..<count]), count - sent, Int32(MSG_NOSIGNAL))
                    guard part > 0 else { break relaying }
                    sent += part
                }
            }
        }
        close(client)
        close(server)
    }

    /// The messages of a client, as far as they have come: after the first one each begins with its type and its length.
    private struct Messages {
        private var bytes: [UInt8] = []
        private var typeCount = 0

        /// How many of the messages that begin in `more`, or began before and are known by now, are a Sync or an Execute.
        mutating func count(in more: ArraySlice<UInt8>) -> (syncs: Int, statements: Int) {
            bytes += more
            var (found, start) = ((syncs: 0, statements: 0), 0)
            while bytes.count - start >= typeCount + 4 {
                let length = bytes[(start + typeCount)..<(start + typeCount + 4)].reduce(0) { $0 << 8 | Int($1) }
                guard bytes.count - start >= typeCount + length else { break }
                if typeCount == 1, bytes[start] == UInt8(ascii: "S") { found.syncs += 1 }
                if typeCount == 1, bytes[start] == UInt8(ascii: "E") { found.statements += 1 }
                start += typeCount + length
                typeCount = 1
            }
            bytes.removeFirst(start)
            return found
        }
    }
}
