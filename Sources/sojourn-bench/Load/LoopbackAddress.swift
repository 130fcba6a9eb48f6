import Glibc

/// A port of this machine, with connections by plain system calls.
struct LoopbackAddress {
    let port: UInt16
    /// The source address, one of 127.0.0.0/8; nil for the system's choice. Several addresses are needed because each port of
    /// an address rests for a minute after its use, and where the server counts by address.
    var source: UInt32?

    /// The address 127.a.b.c.
    static func source(_ a: UInt8, _ b: UInt8, _ c: UInt8) -> UInt32 {
        0x7F00_0000 | UInt32(a) << 16 | UInt32(b) << 8 | UInt32(c)
    }

    /// Opens a blocking connection.
    func connect() throws -> Int32 {
        let number = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard number >= 0 else { throw Failure.system("socket") }
        do {
            if let source {
                Self.set(IP_BIND_ADDRESS_NO_PORT, Int32(IPPROTO_IP), 1, on: number)
                try Self.call("bind", Self.native(source, 0)) { bind(number, $0, $1) }
            }
            try Self.call("connect", Self.native(0x7F00_0001, port)) { Glibc.connect(number, $0, $1) }
        } catch {
            close(number)
            throw error
        }
        return number
    }

    /// Makes closing reset the connection, so that its port is free at once.
    static func resetOnClose(_ descriptor: Int32) {
        var option = linger(l_onoff: 1, l_linger: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
    }

    static func set(_ option: Int32, _ level: Int32, _ value: Int32, on number: Int32) {
        var value = value
        setsockopt(number, level, option, &value, socklen_t(MemoryLayout<Int32>.size))
    }

    private static func native(_ host: UInt32, _ port: UInt16) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = host.bigEndian
        return address
    }

    private static func call(
        _ name: String, _ address: sockaddr_in, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
    ) throws {
        let result = withUnsafePointer(to: address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard result == 0 else { throw Failure.system(name) }
    }
}
