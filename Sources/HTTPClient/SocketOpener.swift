internal import CCurl
internal import Glibc
internal import Sockets

/// Opens the sockets of one request, after a look at the address to which each will be connected.
final class SocketOpener {
    private let destinations: HTTPClient.Destinations
    /// Whether an address was refused.
    private(set) var hasRefused = false

    init(_ destinations: HTTPClient.Destinations) { self.destinations = destinations }

    static let open: curl_opensocket_callback = { opener, _, address in
        guard let opener = unsafe opener, let address = unsafe address else { return -1 }
        return unsafe Unmanaged<SocketOpener>.fromOpaque(opener).takeUnretainedValue().open(address)
    }

    private func open(_ address: UnsafeMutablePointer<curl_sockaddr>) -> curl_socket_t {
        // The native address is as long as its family needs, and begins at the last member.
        guard let offset = MemoryLayout<curl_sockaddr>.offset(of: \.addr) else { return -1 }
        let native = unsafe UnsafeRawBufferPointer(
            start: UnsafeRawPointer(address) + offset, count: Int(address.pointee.addrlen))
        guard let found = unsafe SocketAddress(native: native),
            destinations.allow(found, own: { SocketAddress.ofThisMachine })
        else {
            hasRefused = true
            return -1
        }
        return unsafe socket(
            address.pointee.family, address.pointee.socktype | Int32(SOCK_CLOEXEC.rawValue), address.pointee.protocol)
    }
}
