import Foundation
import Glibc
import Locks

/// A listener on 127.0.0.1, with a thread for each connection.
final class LoopbackListener: Sendable {
    /// Where it listens.
    let port: UInt16
    private let listener: Int32
    private let accepted = Locked(0)
    private let open = Locked<Set<Int32>>([])
    private let serve: @Sendable (Int32) -> Void

    /// How many connections came so far.
    var connections: Int { accepted.withLock { $0 } }

    /// Starts one; `serve` ends with its connection.
    init(_ serve: @escaping @Sendable (Int32) -> Void) {
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
        self.serve = serve
        // Threads of its own, because those of Dispatch are few, and each connection keeps one.
        Thread.detachNewThread { [self] in accept() }
    }

    /// Ends it, and all its connections.
    func stop() {
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

    static func write(_ bytes: [UInt8], to connection: Int32) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { send(connection, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }

    /// Waits until the other side goes.
    static func hang(_ connection: Int32) {
        var byte: UInt8 = 0
        while recv(connection, &byte, 1, 0) > 0 {}
    }
}
