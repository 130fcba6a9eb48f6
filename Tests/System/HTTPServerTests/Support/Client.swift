import Dispatch
import Sockets

/// Runs a blocking client on a queue of its own, so that tests never block the threads that tasks share.
final class QueueExecutor: SerialExecutor {
    private let queue = DispatchQueue(label: "client")

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }
}

struct ReceivedResponse: Equatable {
    var status = 0
    var fields: [String: String] = [:]
    var body = ""
}

struct EndOfStream: Error {}

/// A client that says exactly the bytes it is told to.
actor Client {
    private let executor = QueueExecutor()
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    private var socket: ClientSocket?
    private var buffer: [UInt8] = []

    /// - Parameter timeout: how long it waits for bytes that do not come.
    init(_ address: SocketAddress, timeout: Duration = .seconds(20)) async throws {
        try connect(address, timeout)
    }

    private func connect(_ address: SocketAddress, _ timeout: Duration) throws {
        socket = try ClientSocket(to: address, timeout: timeout)
    }

    func send(_ text: String) throws { try send(Array(text.utf8)) }
    func send(_ bytes: [UInt8]) throws { try socket?.send(bytes) }
    func shutdownWrite() { socket?.shutdownWrite() }
    func close() { socket = nil }
    func reset() {
        socket?.resetOnClose()
        socket = nil
    }

    /// Reads the next response; interim ones too.
    func response(toHead: Bool = false) throws -> ReceivedResponse {
        while endOfHead() == nil { try fill() }
        let end = endOfHead() ?? 0
        var response = ReceivedResponse()
        let lines = String(decoding: buffer[..<end], as: UTF8.self).split(separator: "\r\n")
        response.status = Int(lines[0].split(separator: " ")[1]) ?? 0
        for line in lines.dropFirst() {
            let parts = line.split(separator: ": ", maxSplits: 1)
            response.fields[parts[0].lowercased()] = parts.count > 1 ? String(parts[1]) : ""
        }
        buffer.removeFirst(end + 4)
        let length = toHead ? 0 : Int(response.fields["content-length"] ?? "0") ?? 0
        while buffer.count < length { try fill() }
        response.body = String(decoding: buffer[..<length], as: UTF8.self)
        buffer.removeFirst(length)
        return response
    }

    /// Sends and reads the answer.
    func ask(_ text: String) throws -> ReceivedResponse {
        try send(text)
        return try response()
    }

    /// Waits for some bytes and forgets them; how many came.
    func receiveSome(_ limit: Int = 1024) throws -> Int {
        let count = try socket?.receive(upTo: limit).count ?? 0
        if count == 0 { throw EndOfStream() }
        return count
    }

    /// Waits for so many bytes at least, and hands out all that came.
    func receiveAtLeast(_ count: Int) throws -> [UInt8] {
        while buffer.count < count { try fill() }
        defer { buffer = [] }
        return buffer
    }

    /// Reads until the server has closed, in whatever way; how many bytes came.
    func countUntilEnd() -> Int {
        var count = buffer.count
        while let bytes = try? socket?.receive(), !bytes.isEmpty { count += bytes.count }
        return count
    }

    /// Whether the server closes in good order, without another byte.
    func isClosed() throws -> Bool { try buffer.isEmpty && socket?.receive().isEmpty ?? true }

    private func endOfHead() -> Int? {
        guard buffer.count >= 4 else { return nil }
        return (0...(buffer.count - 4)).first { buffer[$0..<$0 + 4].elementsEqual([13, 10, 13, 10]) }
    }

    private func fill() throws {
        let bytes = try socket?.receive() ?? []
        if bytes.isEmpty { throw EndOfStream() }
        buffer += bytes
    }
}
