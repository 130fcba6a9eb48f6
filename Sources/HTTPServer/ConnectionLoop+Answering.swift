import EventLoops
import HTTP
import Sockets
import Synchronization

extension ConnectionLoop {
    /// Hands a request to its handler. The task prefers this loop, which is this actor's executor too: from here to the
    /// answer there is no other thread and no hop, unless the handler awaits one.
    func start(_ request: Request, _ connection: Connection) {
        if let limit = beginHandling(request, connection) { return shed(request, limit, connection) }
        counters.requests.increment()
        connection.state = .answering
        connection.requestCount += 1
        setDeadline(connection, after: configuration.requestTimeout)
        let (slot, generation, service) = (connection.slot, connection.generation, connection.service)
        let context = RequestContext(
            remoteAddress: connection.remoteAddress, listenerName: service.name,
            isSecure: connection.transport.isSecure, clientCertificate: connection.clientCertificate)
        connection.handler = Task(executorPreference: loop) {
            let response = await service.handler(request, context)
            await self.handlerEnded(slot, generation, service, request, response, context.remoteAddress)
        }
    }

    private func handlerEnded(
        _ slot: Int, _ generation: UInt32, _ service: Service, _ request: Request, _ response: Response,
        _ address: SocketAddress
    ) {
        endHandling(service)
        guard let connection = connection(slot, generation) else {
            orphanEnded(address, request)
            return
        }
        connection.handler = nil
        connection.requestBytes = 0
        if connection.excessBytes > 0 { _ = account(connection) }
        // The 503 is on its way: this answer is too late. The place is the connection's again.
        guard connection.state == .answering else { return }
        let isLast =
            configuration.maximumRequestsPerConnection > 0
            && connection.requestCount >= configuration.maximumRequestsPerConnection
        if isLast { counters.count(.requestsPerConnection) }
        let mustClose = isDraining || isLast
        let wish = ResponseSerializer.Persistence(answering: request)
        connection.clientCloses = wish == .close
        send(response, answering: request.method, mustClose ? .close : wish, connection)
        if connection.state == .reading { advance(connection) }
    }

    /// The connection had ended before its handler; now its place is free.
    private func orphanEnded(_ address: SocketAddress, _ request: Request) {
        orphanedHandlers -= 1
        if request.heldBytes > Self.ownBytes { _ = server.reserve(Self.ownBytes - request.heldBytes) }
        server.release(address)
        endDrainIfDone()
    }

    /// The handler took too long: the client gets a 503 now, and whatever the handler still says is dropped.
    func abandonHandler(_ connection: Connection) {
        counters.handlerTimeouts.increment()
        counters.count(.requestTime)
        connection.handler?.cancel()
        answer(connection, .handlerTimeout(retryAfter: configuration.retryAfterSeconds))
    }

    /// Answers with the engine's own words, and ends the connection.
    func answer(_ connection: Connection, _ answer: EngineAnswer) {
        // A refused HEAD has no content either (RFC 9110 §9.3.2).
        let method: Method? = connection.parser.isHead ? .head : nil
        forgetInput(connection)
        var response = answer.response
        server.finishOwnAnswer(&response)
        send(response, answering: method, .close, connection)
    }

    /// Too much is being worked on: says so at once. The connection may stay, because a new one would cost more; but not
    /// one that sends ahead, or a turn of the loop could be spent on it alone.
    private func shed(_ request: Request, _ limit: HTTPServer.Limit, _ connection: Connection) {
        // `account` has counted its limit already.
        if limit == .pendingRequests { counters.count(limit) }
        connection.requestCount += 1
        var response = EngineAnswer.overloaded(limit, retryAfter: configuration.retryAfterSeconds).response
        server.finishOwnAnswer(&response)
        let mustClose = isDraining || connection.parser.unreadCount > 0
        send(response, answering: request.method, mustClose ? .close : .init(answering: request), connection)
    }

    // MARK: Writing

    private func send(
        _ response: Response, answering method: Method?, _ persistence: ResponseSerializer.Persistence,
        _ connection: Connection
    ) {
        writeBuffer.removeAll(keepingCapacity: writeBuffer.capacity <= Self.keptWriteBufferSize)
        ResponseSerializer.append(response, answering: method, persistence: persistence, date: date(), to: &writeBuffer)
        connection.closesAfterOutput = persistence == .close
        switch connection.transport.send(writeBuffer) {
        case .bytes(writeBuffer.count): outputIsSent(connection)
        case .failed: close(connection)
        case .bytes(let count): keepOutput(from: count, connection)
        case .wouldBlock: keepOutput(from: 0, connection)
        }
    }

    private func keepOutput(from offset: Int, _ connection: Connection) {
        connection.output = Array(writeBuffer[offset...])
        connection.outputOffset = 0
        connection.state = .writing
        guard account(connection) else { return close(connection) }
        beginWindow(connection, of: configuration.writeTimeout)
    }

    /// Goes on writing what the client had no room for.
    func flush(_ connection: Connection) {
        while true {
            switch connection.transport.send(connection.output, from: connection.outputOffset) {
            case .bytes(let count):
                connection.outputOffset += count
                if connection.outputOffset < connection.output.count { continue }
                connection.output = []
                _ = account(connection)
                outputIsSent(connection)
                if connection.state == .reading { advance(connection) }
                return
            case .wouldBlock: return
            case .failed:
                close(connection)
                return
            }
        }
    }

    /// The answer is out: on to the next request, or to the end.
    private func outputIsSent(_ connection: Connection) {
        if !connection.closesAfterOutput {
            connection.state = .reading
            // Whatever is awaited next gets a deadline of its own.
            connection.awaited = .idle
            setDeadline(connection, after: idleAllowance)
            return
        }
        // Closing while bytes are unread, or come later, resets the connection, and the client might lose the answer. Only a
        // client that said that this was its last request, and kept to it, can be left at once.
        if connection.clientCloses, !connection.mayRead, connection.parser.unreadCount == 0 {
            close(connection)
            return
        }
        connection.transport.shutdownWrite()
        connection.state = .lingering
        setDeadline(connection, after: configuration.lingerTimeout)
        drop(connection)
    }
}
