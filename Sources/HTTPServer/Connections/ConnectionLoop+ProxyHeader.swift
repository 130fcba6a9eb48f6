import EventLoops
import Sockets

// The header of the PROXY protocol, on listeners that demand one: before TLS, before the first request.
extension ConnectionLoop {
    /// Learns from a proxy for whom it connects; false while the header is not complete, or when there is none: then the
    /// connection is closed without a word, because nobody who speaks HTTP is at its other end. Whoever is not one of the
    /// proxies is not even listened to.
    func readProxyHeader(_ connection: Connection) -> Bool {
        guard let proxies = connection.service.options.proxies,
            proxies.contains(where: { $0.contains(connection.remoteAddress) })
        else {
            return refuseOpening(connection)
        }
        // What follows belongs to whoever reads next, so the header is looked at first, and taken when it is complete.
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

    /// The connection counts as its client's from now on; false, and it is closed, when this one has too many.
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
