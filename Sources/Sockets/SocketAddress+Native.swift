import CLinux
import Glibc

extension SocketAddress {
    var family: Int32 {
        switch self {
        case .ipv4: AF_INET
        case .ipv6: AF_INET6
        case .unix: AF_UNIX
        }
    }

    /// Calls `body` with the C form of the address.
    func withNative<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
        var storage = sockaddr_storage()
        let length = unsafe withUnsafeMutableBytes(of: &storage) { bytes in unsafe write(to: bytes) }
        return unsafe withUnsafePointer(to: &storage) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe body($0, length) }
        }
    }

    private func write(to storage: UnsafeMutableRawBufferPointer) -> socklen_t {
        switch self {
        case .ipv4(let bytes, let port):
            var native = sockaddr_in()
            native.sin_family = sa_family_t(AF_INET)
            native.sin_port = port.bigEndian
            unsafe withUnsafeMutableBytes(of: &native.sin_addr) { unsafe $0.copyBytes(from: bytes.prefix(4)) }
            unsafe storage.storeBytes(of: native, as: sockaddr_in.self)
            return socklen_t(MemoryLayout<sockaddr_in>.size)
        case .ipv6(let bytes, let port):
            var native = sockaddr_in6()
            native.sin6_family = sa_family_t(AF_INET6)
            native.sin6_port = port.bigEndian
            unsafe withUnsafeMutableBytes(of: &native.sin6_addr) { unsafe $0.copyBytes(from: bytes.prefix(16)) }
            unsafe storage.storeBytes(of: native, as: sockaddr_in6.self)
            return socklen_t(MemoryLayout<sockaddr_in6>.size)
        case .unix(let path):
            var native = sockaddr_un()
            native.sun_family = sa_family_t(AF_UNIX)
            unsafe withUnsafeMutableBytes(of: &native.sun_path) {
                unsafe $0.copyBytes(from: path.utf8.prefix(Self.longestUnixPath))
            }
            unsafe storage.storeBytes(of: native, as: sockaddr_un.self)
            return socklen_t(MemoryLayout<sockaddr_un>.size)
        }
    }

    /// Returns the address that a system call fills in; nil if the call fails.
    static func filled(
        by call: (UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>) -> Int32
    ) -> (address: SocketAddress, result: Int32)? {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let result = unsafe withUnsafeMutablePointer(to: &storage) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe call($0, &length) }
        }
        if result < 0 { return nil }
        return unsafe withUnsafeBytes(of: &storage) { bytes in
            (unsafe read(from: UnsafeRawBufferPointer(rebasing: bytes.prefix(Int(length)))), result)
        }
    }

    static func read(from storage: UnsafeRawBufferPointer) -> SocketAddress {
        // An unnamed Unix socket may leave the length at that of the family, or at 0.
        guard storage.count > 2 else { return .unix(path: "") }
        switch unsafe Int32(storage.load(as: sa_family_t.self)) {
        case AF_INET:
            let native = unsafe storage.load(as: sockaddr_in.self)
            let bytes = unsafe withUnsafeBytes(of: native.sin_addr) { unsafe Array($0) }
            return .ipv4(bytes: bytes, port: UInt16(bigEndian: native.sin_port))
        case AF_INET6:
            let native = unsafe storage.load(as: sockaddr_in6.self)
            let bytes = unsafe withUnsafeBytes(of: native.sin6_addr) { unsafe Array($0) }
            return .ipv6(bytes: bytes, port: UInt16(bigEndian: native.sin6_port))
        default:
            return unsafe .unix(path: String(decoding: storage.dropFirst(2).prefix { $0 != 0 }, as: UTF8.self))
        }
    }
}
