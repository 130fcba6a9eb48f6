import Dispatch
import Glibc

/// The datagram socket of a supervisor.
final class NotificationReceiver: Sendable {
    struct NotMade: Error { let code: Int32 }

    private let number: Int32

    init(_ path: String) throws {
        number = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(number, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard result == 0 else { throw NotMade(code: errno) }
        var patience = timeval(tv_sec: 60, tv_usec: 0)
        setsockopt(number, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
    }

    deinit { close(number) }

    /// Waits for a message.
    func next() async -> String {
        await withCheckedContinuation { continuation in
            DispatchQueue(label: "supervisor").async { [number] in
                var buffer = [UInt8](repeating: 0, count: 4096)
                let count = recv(number, &buffer, buffer.count, 0)
                continuation.resume(returning: String(decoding: buffer.prefix(max(0, count)), as: UTF8.self))
            }
        }
    }
}
