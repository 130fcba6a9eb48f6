import EventLoops
import Sockets
import TLS

extension ConnectionLoop {
    /// The connections that one turn accepts, so that a flood of new ones does not starve the others.
    private static let acceptsPerTurn = 64
    /// The longest listener queue in use. It bounds a stop while clients keep connecting.
    private static let longestQueue = 65_536
    /// The connections per loop that get a 503 at one time because there are too many; more are closed without a
    /// response.
    private static let answeredRejections = 64

    nonisolated func watch(_ port: ServicePort, _ id: UInt32) throws(EventLoopError) {
        try source.add(port.listener.number, for: .sharedAccept, token: ConnectionToken.port(id).bits)
    }

    nonisolated func unwatch(_ port: ServicePort) { source.remove(port.listener.number) }

    func accept(_ port: ServicePort, _ id: UInt32? = nil) {
        guard let service = port.service else { return }
        for _ in 0..<Self.acceptsPerTurn {
            switch port.listener.accept() {
            case .connection(let number, let address): distribute(number, address, service)
            case .noneWaiting: return
            case .outOfResources:
                if let id { pauseAccepting(port, id) }
                return
            }
        }
    }

    /// Accepts every connection that waits, before the listener closes. Returns true if one of them comes from
    /// `sender`.
    @discardableResult
    func acceptAll(_ port: ServicePort, lookingFor sender: SocketAddress? = nil) -> Bool {
        guard let service = port.service else { return false }
        var isFound = false
        for _ in 0..<Self.longestQueue {
            guard case .connection(let number, let address) = port.listener.accept() else { break }
            if address == sender { isFound = true }
            distribute(number, address, service)
        }
        return isFound
    }

    private func distribute(_ number: Int32, _ address: SocketAddress, _ service: Service) {
        counters.accepted.increment()
        let limit =
            number < server.descriptorCeiling
            ? server.admit(service.options.proxies == nil ? address : nil, isReserved: service.options.isReserved)
            : .descriptors
        if let limit {
            counters.rejected.increment()
            counters.count(limit)
            reject(number, address, service)
            return
        }
        // A loop that drains keeps its connections, because another loop may have drained already.
        let target = isDraining ? self : server.leastLoaded(startingWith: self)
        target.counters.open.increment()
        if target === self {
            adopt(number, address, service)
        } else {
            Task.detached(executorPreference: target.loop) { await target.adopt(number, address, service) }
        }
    }

    /// Takes over an admitted connection.
    func adopt(_ number: Int32, _ address: SocketAddress, _ service: Service) {
        let socket = StreamSocket(owning: number)
        if address.port != nil { socket.sendWithoutDelay() }
        guard
            let connection = insert(
                Transport(socket, service.options.tls?.current), from: address, service, isAdmitted: true)
        else {
            counters.open.decrement()
            server.release(service.options.proxies == nil ? address : nil)
            return
        }
        if isDraining { setDeadline(connection, after: configuration.drainGrace) }
        begin(connection)
    }

    /// Refuses a connection because there are too many: with a 503 if not too many are being refused, otherwise
    /// without.
    private func reject(_ number: Int32, _ address: SocketAddress, _ service: Service) {
        let socket = StreamSocket(owning: number)
        // With TLS a response would cost a handshake, and there are not enough resources for that.
        guard service.options.tls == nil, rejectedCount < Self.answeredRejections, number < server.rejectionCeiling,
            let connection = insert(Transport(socket), from: address, service, isAdmitted: false)
        else { return }
        rejectedCount += 1
        counters.open.increment()
        answer(connection, .overloaded(.connections))
    }

    // MARK: No descriptors left

    /// Stops watching the listener for a while, because it stays ready while connections wait, and the loop would spin.
    private func pauseAccepting(_ port: ServicePort, _ id: UInt32) {
        counters.acceptPauses.increment()
        counters.count(.descriptors)
        source.remove(port.listener.number)
        pausedPorts.append(id)
        acceptResumesAt = now + configuration.acceptPause
    }

    func resumeAccepting() {
        acceptResumesAt = nil
        let ports = pausedPorts
        pausedPorts = []
        for id in ports {
            guard let port = server.port(id) else { continue }
            do {
                try watch(port, id)
            } catch {
                pausedPorts.append(id)
                acceptResumesAt = now + configuration.acceptPause
            }
        }
    }
}
