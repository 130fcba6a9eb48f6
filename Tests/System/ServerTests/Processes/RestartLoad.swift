import Dispatch
import Locks
import Sockets
import Testing

/// Clients that never stop asking, each on a thread of its own: some keep their connection as long as the server does, some make a
/// new one for each request.
final class RestartLoad: Sendable {
    private struct Unexpected: Error { let answer: String }

    /// What came of it.
    struct Result {
        var answered = 0
        var failures: [String] = []
        /// Kept connections that the server ended in good order.
        var ended = 0
    }

    private let isOver = Locked(false)
    private let result = Locked(Result())
    private let group = DispatchGroup()

    /// Starts `count` clients.
    init(_ count: Int, to address: SocketAddress) {
        for index in 0..<count {
            DispatchQueue(label: "client \(index)").async(group: group) { [self] in
                run(address, keepsAlive: index % 2 == 0)
            }
        }
    }

    /// How many answers have come.
    var answered: Int { result.withLock { $0.answered } }

    /// Waits until so many more answers have come, so that every process serves for a while.
    func awaitAnswers(_ count: Int) async {
        let goal = answered + count
        while answered < goal, result.withLock({ $0.failures.count }) < 100 {
            try? await Task.sleep(for: .milliseconds(2))
        }
    }

    /// Ends the clients.
    func end() async -> Result {
        isOver.withLock { $0 = true }
        await withCheckedContinuation { continuation in group.notify(queue: .global()) { continuation.resume() } }
        return result.withLock { $0 }
    }

    private func run(_ address: SocketAddress, keepsAlive: Bool) {
        var count = 0
        while !isOver.withLock({ $0 }) {
            do {
                let socket = try ClientSocket(to: address, timeout: .seconds(60))
                var ends = false
                while !ends, !isOver.withLock({ $0 }) {
                    count += 1
                    ends = try ask(socket, keepsAlive: keepsAlive)
                    result.withLock { result in
                        result.answered += 1
                        if ends, keepsAlive { result.ended += 1 }
                    }
                }
            } catch {
                result.withLock { $0.failures.append("request \(count), keeps alive: \(keepsAlive): \(error)") }
                if result.withLock({ $0.failures.count }) >= 100 { return }
            }
        }
    }

    /// One request that must not be sent twice; whether the connection ends with its answer.
    private func ask(_ socket: borrowing ClientSocket, keepsAlive: Bool) throws -> Bool {
        let body = #"{"refresh_token":"sjr_x"}"#
        let fields = keepsAlive ? "" : "Connection: close\r\n"
        let head = "POST /v1/refresh HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n"
        try socket.send(Array("\(head)\(fields)Content-Length: \(body.utf8.count)\r\n\r\n\(body)".utf8))
        var text = ""
        while !text.contains("}") {
            let bytes = try socket.receive()
            if bytes.isEmpty { throw Unexpected(answer: "the end after '\(text)'") }
            text += String(decoding: bytes, as: UTF8.self)
        }
        // A junk token is refused, after the application has looked at it.
        guard text.hasPrefix("HTTP/1.1 401 ") else { throw Unexpected(answer: text) }
        return text.lowercased().contains("connection: close")
    }
}
