import CLinux
import Glibc

/// Reports the state of the service to systemd (sd_notify(3)): one datagram to the socket that `NOTIFY_SOCKET` names.
public struct ServiceNotification: Hashable, Sendable {
    private let path: [UInt8]

    /// Creates the reporter for the socket that the environment names: a path, or "@" and an abstract name. Returns nil
    /// without such a variable.
    public init?(environment: [String: String]) {
        guard let name = environment["NOTIFY_SOCKET"], name.hasPrefix("/") || name.hasPrefix("@"),
            (2...SocketAddress.longestUnixPath).contains(name.utf8.count)
        else { return nil }
        path = name.hasPrefix("@") ? [0] + Array(name.utf8.dropFirst()) : Array(name.utf8)
    }

    /// Sends a state: "READY=1", "STOPPING=1". It does not report whether the state arrives.
    public func send(_ state: String) {
        let number = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | StreamSocket.creationFlags, 0)
        guard number >= 0 else { return }
        let descriptor = FileDescriptor(owning: number)
        var native = sockaddr_un()
        native.sun_family = sa_family_t(AF_UNIX)
        unsafe withUnsafeMutableBytes(of: &native.sun_path) { unsafe $0.copyBytes(from: path) }
        // The length ends an abstract name, not a NUL.
        let length = socklen_t(MemoryLayout<sa_family_t>.size + path.count)
        let bytes = Array(state.utf8)
        _ = unsafe withUnsafePointer(to: &native) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                unsafe sendto(descriptor.number, bytes, bytes.count, Int32(MSG_NOSIGNAL), address, length)
            }
        }
    }
}
