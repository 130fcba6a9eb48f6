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
    public let port: UInt16
    /// `http://127.0.0.1:PORT`
    public var origin: String { "http://127.0.0.1:\(port)" }
    private let listener: Int32
    private let seen = Locked<[String]>([])
    private let accepted = Locked(0)
    private let open = Locked<Set<Int32>>([])
    private let answer: @Sendable (String) -> [Step]

    /// How many connections came so far, with a request or without.
    public var connections: Int { accepted.withLock { $0 } }

    /// What was asked so far: heads and the content that came with them.
    public var requests: [String] { seen.withLock { $0 } }

    /// Starts one that does what `answer` says to a request.
    public init(_ answer: @escaping @Sendable (String) -> [Step]) {
        listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        port = withUnsafeMutablePointer(to: &address) { [listener] pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                precondition(bind(listener, pointer, length) == 0 && listen(listener, 64) == 0)
                getsockname(listener, pointer, &length)
            }
            return UInt16(bigEndian: pointer.pointee.sin_port)
        }
        self.answer = answer
        // Threads of its own, because those of Dispatch are few, and each connection keeps one.
        Thread.detachNewThread { [self] in accept() }
    }

    /// Ends it, and all its connections.
    public func stop() {
        shutdown(listener, Int32(SHUT_RDWR))
        open.withLock { open in for connection in open { shutdown(connection, Int32(SHUT_RDWR)) } }
    }

    private func accept() {
        while case let connection = Glibc.accept(listener, nil, nil), connection >= 0 {
            accepted.withLock { $0 += 1 }
            open.withLock { _ = $0.insert(connection) }
            Thread.detachNewThread { [self] in
                serve(connection)
                open.withLock { _ = $0.remove(connection) }
                close(connection)
            }
        }
        close(listener)
    }

    private func serve(_ connection: Int32) {
        guard let request = readRequest(connection) else { return }
        seen.withLock { $0.append(request) }
        for step in answer(request) {
            switch step {
            case .say(let text): guard write(Array(text.utf8), to: connection) else { return }
            case .bytes(let bytes): guard write(bytes, to: connection) else { return }
            case .endless(let text): while write(Array(text.utf8), to: connection) {}
            case .hang:
                var byte: UInt8 = 0
                while recv(connection, &byte, 1, 0) > 0 {}
            case .wait(let signal): signal.take()
            }
        }
        shutdown(connection, Int32(SHUT_WR))
    }

    /// A head, and as much content as it announces.
    private func readRequest(_ connection: Int32) -> String? {
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

    private func write(_ bytes: [UInt8], to connection: Int32) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { send(connection, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }
}
