public import Sockets

extension HTTPClient {
    /// The addresses to which a client connects, whatever the URL says. The address of each connection is checked after its
    /// name is resolved, so that no name, redirect or spelling of a number leads elsewhere.
    public enum Destinations: Hashable, Sendable {
        /// Every address, for URLs that the operator or an admin has set.
        case anywhere
        /// The addresses of the public internet (`SocketAddress.isPublic`) except those of this machine, and those of the
        /// ranges, for URLs that a client of the server has set.
        case publicAddresses(and: [AddressRange])

        /// Whether a connection may go to `address`, from a machine with the addresses `own`.
        func allow(_ address: SocketAddress, own: () -> Set<SocketAddress>) -> Bool {
            switch self {
            case .anywhere: true
            case .publicAddresses(let ranges):
                // A service that listens on every interface answers at the machine's public address as well, behind its
                // firewall.
                ranges.contains { $0.contains(address) } || address.isPublic && !own().contains(address.withoutPort)
            }
        }
    }
}
