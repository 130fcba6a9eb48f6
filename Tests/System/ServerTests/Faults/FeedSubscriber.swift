import Dispatch
import Glibc
import HTTP
import Locks
import Sockets

@testable import sojourn

/// Follows the feed as server-sent events on a thread of its own, as clients do: when the connection ends, it comes again from
/// where it was, and anew when the place is unknown.
final class FeedSubscriber: Sendable {
    /// What it has seen.
    struct Sight {
        /// The sessions that are over, in the order in which it was told.
        var sessions: [String] = []
        /// How often it was caught up, since it last began anew.
        var caughtUp = 0
        /// How often it had to begin anew.
        var resets = 0
        /// Streams that ended with their last chunk.
        var ended = 0
        /// Streams that were cut.
        var cut = 0
        fileprivate var cursor = ""
    }

    private let address: Locked<String>
    private let sight = Locked(Sight())
    private let isOver = Locked(false)
    private let group = DispatchGroup()

    /// Follows the feed of the server with that admin listener.
    init(_ address: String) {
        self.address = Locked(address)
        DispatchQueue(label: "subscriber").async(group: group) { [self] in
            while !isOver.withLock({ $0 }) {
                do { try follow() } catch { usleep(10_000) }
            }
        }
    }

    /// What it has seen so far.
    var seen: Sight { sight.withLock { $0 } }

    /// Where it goes when its connection has ended.
    func move(to address: String) { self.address.withLock { $0 = address } }

    /// Waits until it has seen what is wanted, for half a minute. False: it has not.
    func wait(_ isEnough: (Sight) -> Bool) async -> Bool {
        let deadline = ContinuousClock.now + .seconds(30)
        while !isEnough(seen) {
            if ContinuousClock.now > deadline { return false }
            try? await Task.sleep(for: .milliseconds(2))
        }
        return true
    }

    /// It comes no more when its connection has ended.
    func end() { isOver.withLock { $0 = true } }

    private func follow() throws {
        let socket = try ClientSocket(to: SocketAddress(address.withLock { $0 }), timeout: .seconds(20))
        try socket.send(Self.request(after: seen.cursor))
        // A piece is a chunk, and has whole lines; a chunk of no bytes is the end.
        var (rest, id) = ("", "")
        while true {
            let bytes = try socket.receive()
            if bytes.isEmpty { break }
            let lines = (rest + String(decoding: bytes, as: UTF8.self)).split(
                omittingEmptySubsequences: false, whereSeparator: \.isNewline)
            rest = String(lines.last ?? "")
            for line in lines.dropLast() {
                if line.hasPrefix("HTTP/1.1 410") { sight.withLock { $0 = Sight(resets: $0.resets + 1) } }
                if line.hasPrefix("HTTP/1.1 "), !line.hasPrefix("HTTP/1.1 200") { throw SocketError.connectionClosed }
                if line.hasPrefix("id: ") { id = String(line.dropFirst(4)) }
                if line.hasPrefix("event: caught_up") { sight.withLock { $0.caughtUp += 1 } }
                if line.hasPrefix("data: ") { note(line, id) }
                if line == "0" { return sight.withLock { $0.ended += 1 } }
            }
        }
        sight.withLock { $0.cut += 1 }
    }

    private func note(_ line: Substring, _ id: String) {
        sight.withLock { sight in
            sight.cursor = id
            guard let start = line.firstRange(of: "\"sid\":\"")?.upperBound else { return }
            sight.sessions.append(String(line[start...].prefix { $0 != "\"" }))
        }
    }

    /// Asks for a stream.
    static func request(after cursor: String = "") -> [UInt8] {
        let resume = cursor.isEmpty ? "" : "Last-Event-ID: \(cursor)\r\n"
        return Array(
            ("GET /admin/v1/revocations HTTP/1.1\r\nHost: a\r\nAccept: text/event-stream\r\n\(resume)"
                + "Authorization: Bearer \(CrashServer.adminKey)\r\n\r\n").utf8)
    }
}
