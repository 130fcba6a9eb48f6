#if os(Linux)
    import Foundation
    import Glibc

    /// A socket on a free port of 127.0.0.1.
    final class LoopbackListener: Sendable {
        let port: UInt16
        private let descriptor: Int32
        private let isStopped = Guarded(false)

        /// Listens; nil if the system refuses it.
        init?() {
            let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
            let isBound = SocketStream.withLoopback(port: 0) { bind(descriptor, $0, $1) } == 0
            var address = sockaddr_in()
            var length = socklen_t(MemoryLayout<sockaddr_in>.size)
            let isNamed = withUnsafeMutablePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &length) == 0 }
            }
            guard isBound, isNamed, listen(descriptor, 512) == 0 else {
                close(descriptor)
                return nil
            }
            self.descriptor = descriptor
            port = UInt16(bigEndian: address.sin_port)
        }

        /// Serves each connection on a thread of its own. To be called once.
        func serve(_ body: @escaping @Sendable (SocketStream) -> Void) {
            Thread.detachNewThread { [descriptor] in
                while true {
                    let client = Glibc.accept(descriptor, nil, nil)
                    if client < 0 {
                        if errno == EINTR || errno == ECONNABORTED { continue }
                        if errno == EMFILE || errno == ENFILE {
                            usleep(10_000)
                            continue
                        }
                        break
                    }
                    _ = fcntl(client, F_SETFD, FD_CLOEXEC)
                    Thread.detachNewThread { body(SocketStream(descriptor: client)) }
                }
                close(descriptor)
            }
        }

        /// Takes no more connections.
        func stop() {
            let wasStopped = isStopped.withLock { isStopped in
                defer { isStopped = true }
                return isStopped
            }
            // The thread that waits at the socket closes it.
            if !wasStopped { shutdown(descriptor, Int32(SHUT_RDWR)) }
        }
    }
#endif
