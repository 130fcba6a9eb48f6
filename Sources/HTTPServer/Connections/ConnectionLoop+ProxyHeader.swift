import EventLoops
import Sockets

// The header of the PROXY protocol, on listeners that require it: before TLS and before the first request.
extension ConnectionLoop {
    /// Reads the address of the client from the header. Returns false while the header is incomplete. A malformed
    /// header, or a peer outside of the configured proxies, closes the connection without a response, because the peer
    /// does not speak HTTP.
    func readProxyHeader(_ connection: Connection) -> Bool {
        guard let proxies = connection.service.options.proxies,
            proxies.contains(where: { $0.contains(connection.remoteAddress) })
        else {
            return refuseOpening(connection)
        }
        // The bytes after the header belong to TLS or HTTP. So the header is peeked at first, and removed when it is
        // complete.
        var bytes = [UInt8](repeating: 0, count: ProxyHeader.maximumLength)
        switch connection.transport.peek(into: &bytes) {
        case .bytes(0), .failed:
            close(connection)
            return false
        case .wouldBlock:
            connection.mayRead = false
            return false
        case .bytes(let count):
            switch ProxyHeader.parse(Array(bytes[..<count])) {
            case .needMore:
                if connection.endsSoon { close(connection) }
                return false
            case .malformed: return refuseOpening(connection)
            case .header(let source, let length):
                var header = [UInt8](repeating: 0, count: length)
                guard connection.transport.discard(into: &header) == .bytes(length) else {
                    close(connection)
                    return false
                }
                return name(connection, source ?? connection.remoteAddress)
            }
        }
    }

    /// Counts the connection for its client from now on. Returns false, and closes it, if that client has too many.
    private func name(_ connection: Connection, _ client: SocketAddress) -> Bool {
        if let limit = server.admit(client, isReserved: connection.service.options.isReserved) {
            counters.rejected.increment()
            counters.count(limit)
            close(connection)
            return false
        }
        server.release(nil)
        connection.awaitsProxyHeader = false
        connection.remoteAddress = client
        connection.context = RequestContext(
            remoteAddress: client, listenerName: connection.service.options.name)
        connection.mayUseHTTPS()
        return true
    }

    private func refuseOpening(_ connection: Connection) -> Bool {
        counters.protocolErrors.increment()
        close(connection)
        return false
    }
}
