import EventLoops
import HTTP
import Sockets
import Synchronization

extension ConnectionLoop {
    /// Lets the responder answer a request. What it knows at once goes out at once.
    func start(_ request: borrowing Request, _ connection: Connection) {
        connection.requestCount += 1
        let wish = ResponseSerializer.Persistence(answering: request)
        switch connection.service.responder(request, connection.context) {
        case .now(let response):
            counters.requests.increment()
            finish(connection, response, answering: request.method, wish)
        case .later(let respond):
            if let limit = beginHandling(request, connection) { return shed(request, limit, connection) }
            counters.requests.increment()
            handle(request, connection, wish, respond)
        case .patient(let reply): startPatient(request, connection, wish, reply)
        }
    }

    /// Runs a handler in a task on this loop, which is this actor's executor, too: until the answer there is no other
    /// thread and no hop, unless the handler awaits one. It begins at once, and may end before this returns.
    private func handle(
        _ request: borrowing Request, _ connection: Connection, _ wish: ResponseSerializer.Persistence,
        _ respond: @escaping @Sendable () async -> Response
    ) {
        connection.state = .answering
        setDeadline(connection, after: configuration.requestTimeout)
        let (slot, generation, service) = (connection.slot, connection.generation, connection.service)
        let (method, heldBytes, address) = (request.method, connection.requestBytes, connection.remoteAddress)
        connection.isStarting = true
        let task = Task.immediate(executorPreference: loop) {
            let response = await respond()
            // Handlers that were resumed together are answered together: answers that are sent one by one wake whoever receives
            // them one by one, which costs both sides more than this turn of the queue.
            if self.connection(slot, generation)?.isStarting == false { await Task.yield() }
            self.endHandling(service)
            guard let connection = self.handlerEnded(slot, generation) else {
                self.orphanEnded(address, heldBytes)
                return
            }
            // Else the 503 is on its way: this answer is too late.
            guard connection.state == .answering else { return }
            self.finish(connection, response, answering: method, wish)
            // Whoever starts handlers goes on by himself.
            if !connection.isStarting { self.advance(connection) }
        }
        connection.isStarting = false
        if connection.state == .answering { connection.handler = task }
    }

    /// The connection whose handler has ended: the place is its own again. Nil if it has ended before.
    func handlerEnded(_ slot: Int, _ generation: UInt32) -> Connection? {
        guard let connection = connection(slot, generation) else { return nil }
        connection.handler = nil
        connection.requestBytes = 0
        if connection.excessBytes > 0 { _ = account(connection) }
        return connection
    }

    func finish(
        _ connection: Connection, _ response: Response, answering method: Method,
        _ wish: ResponseSerializer.Persistence
    ) {
        send(response, answering: method, persistence(wish, connection), connection)
    }

    /// What becomes of the connection after an answer, when its client wishes for that.
    func persistence(
        _ wish: ResponseSerializer.Persistence, _ connection: Connection
    ) -> ResponseSerializer.Persistence {
        let isLast =
            configuration.maximumRequestsPerConnection > 0
            && connection.requestCount >= configuration.maximumRequestsPerConnection
        if isLast { counters.count(.requestsPerConnection) }
        connection.clientCloses = wish == .close
        return isDraining || isLast ? .close : wish
    }

    /// The connection had ended before its handler; now its place is free.
    func orphanEnded(_ address: SocketAddress, _ heldBytes: Int) {
        orphanedHandlers -= 1
        if heldBytes > Self.ownBytes { _ = server.reserve(Self.ownBytes - heldBytes) }
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
    func answer(_ connection: Connection, _ answer: BuiltInResponse) {
        // A refused HEAD has no content either (RFC 9110 §9.3.2).
        let method: Method? = connection.parser.isHead ? .head : nil
        forgetInput(connection)
        send(ownResponse(answer), answering: method, .close, connection)
    }

    /// The engine's own words, with what the server adds to them.
    func ownResponse(_ answer: BuiltInResponse) -> Response {
        var response = answer.response
        server.finishOwnAnswer(&response)
        return response
    }

    /// Too much is being worked on: says so at once. The connection may stay, because a new one would cost more; but not
    /// one that sends ahead, or a turn of the loop could be spent on it alone.
    func shed(_ request: Request, _ limit: HTTPServer.Limit, _ connection: Connection) {
        // `account` has counted its limit already.
        if limit != .bufferedBytes { counters.count(limit) }
        let response = ownResponse(.overloaded(limit, retryAfter: configuration.retryAfterSeconds))
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

    func keepOutput(from offset: Int, _ connection: Connection) {
        connection.output = Array(writeBuffer[offset...])
        connection.outputOffset = 0
        if connection.state != .streaming { connection.state = .writing }
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
                if connection.state == .streaming { return piecesAreSent(connection) }
                outputIsSent(connection)
                advance(connection)
                return
            case .wouldBlock: return
            case .failed:
                close(connection)
                return
            }
        }
    }

    /// The answer is out: on to the next request, or to the end.
    func outputIsSent(_ connection: Connection) {
        if !connection.closesAfterOutput {
            connection.state = .reading
            // Whatever is awaited next gets a deadline of its own.
            connection.awaited = .idle
            if isDraining { setDeadline(connection, after: idleAllowance) } else { awaitNext(connection) }
            return
        }
        // Closing while bytes are unread, or come later, resets the connection, and the client might lose the answer. Only a
        // client that said that this was its last request, and kept to it, can be left at once.
        if connection.clientCloses, !connection.mayRead, connection.parser.unreadCount == 0 {
            close(connection)
        } else {
            linger(connection)
        }
    }

    /// Sends no more, and leaves the connection to the client for a moment, so that the last words are not lost in a reset.
    func linger(_ connection: Connection) {
        connection.transport.shutdownWrite()
        connection.state = .lingering
        // Something may have come that the kernel has not told about yet.
        connection.mayRead = true
        setDeadline(connection, after: configuration.lingerTimeout)
        drop(connection)
    }
}
