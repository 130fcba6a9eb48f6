// A server on 127.0.0.1 that answers whatever a test tells it to, HTTP or not. It shares no code with anything that is tested.

import Foundation
import Glibc
import Locks

/// Answers each connection's first request with a list of steps, then closes.
public final class HostileServer: Sendable {
    /// What is done on a connection, one after the other.
    public enum Step: Sendable {
        /// Sends this.
        case say(String)
        /// Sends this.
        case bytes([UInt8])
        /// Sends this again and again until the other side goes.
        case endless(String)
        /// Waits until the other side goes.
        case hang
        /// Waits until the test lets it go on, or the server ends.
        case wait(Signal)
    }

    /// Lets one connection wait for a test.
    public final class Signal: Sendable {
        private let semaphore = DispatchSemaphore(value: 0)
        /// A signal that was not given.
        public init() {}
        /// Lets one that waits go on.
        public func give() { semaphore.signal() }
        fileprivate func take() { _ = semaphore.wait(timeout: .now() + 20) }
    }

    /// Where it listens.
    public var port: UInt16 { listener.port }
    /// `http://127.0.0.1:PORT`
    public var origin: String { "http://127.0.0.1:\(port)" }
    private let listener: LoopbackListener
    private let seen = Locked<[String]>([])

    /// How many connections came so far, with a request or without.
    public var connections: Int { listener.connections }

    /// What was asked so far: heads and the content that came with them.
    public var requests: [String] { seen.withLock { $0 } }

    /// Starts one that does what `answer` says to a request.
    public init(_ answer: @escaping @Sendable (String) -> [Step]) {
        let seen = seen
        listener = LoopbackListener { connection in Self.serve(connection, seen, answer) }
    }

    /// Ends it, and all its connections.
    public func stop() { listener.stop() }

    private static func serve(_ connection: Int32, _ seen: Locked<[String]>, _ answer: (String) -> [Step]) {
        guard let request = readRequest(connection) else { return }
        seen.withLock { $0.append(request) }
        for step in answer(request) {
            switch step {
            case .say(let text): guard LoopbackListener.write(Array(text.utf8), to: connection) else { return }
            case .bytes(let bytes): guard LoopbackListener.write(bytes, to: connection) else { return }
            case .endless(let text): while LoopbackListener.write(Array(text.utf8), to: connection) {}
            case .hang:
                LoopbackListener.hang(connection)
            case .wait(let signal): signal.take()
            }
        }
        shutdown(connection, Int32(SHUT_WR))
    }

    /// A head, and as much content as it announces.
    private static func readRequest(_ connection: Int32) -> String? {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let text = String(decoding: bytes, as: UTF8.self)
            if let end = text.firstRange(of: "\r\n\r\n") {
                let length = text[..<end.lowerBound].split(separator: "\r\n").compactMap { line in
                    line.lowercased().hasPrefix("content-length: ") ? Int(line.dropFirst(16)) : nil
                }
                if text[end.upperBound...].utf8.count >= length.first ?? 0 { return text }
            }
            let count = recv(connection, &buffer, buffer.count, 0)
            guard count > 0 else { return nil }
            bytes += buffer.prefix(count)
        }
    }
}
