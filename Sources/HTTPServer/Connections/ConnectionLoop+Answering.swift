import EventLoops
import HTTP
import Sockets
import Synchronization

extension ConnectionLoop {
    /// Calls the responder and sends its response at once if there is one.
    func start(_ request: borrowing Request, _ connection: Connection) {
        connection.requestCount += 1
        let requested = ResponseSerializer.Persistence(answering: request)
        switch connection.service.responder(request, connection.context) {
        case .now(let response):
            counters.requests.increment()
            finish(connection, response, answering: request.method, requested)
        case .later(let respond):
            if let limit = beginHandling(request, connection) { return shed(request, limit, connection) }
            counters.requests.increment()
            handle(request, connection, requested, respond)
        case .streaming(let reply): startStreamingReply(request, connection, requested, reply)
        }
    }

    /// Runs a handler in a task on this loop, which is also this actor's executor. No other thread and no hop is
    /// involved until the response, unless the handler awaits one. The task starts at once and may end before this
    /// function returns.
    private func handle(
        _ request: borrowing Request, _ connection: Connection, _ requested: ResponseSerializer.Persistence,
        _ respond: @escaping @Sendable () async -> Response
    ) {
        connection.state = .answering
        setDeadline(connection, after: configuration.requestTimeout)
        let (slot, generation, service) = (connection.slot, connection.generation, connection.service)
        let (method, heldBytes, address) = (request.method, connection.requestBytes, connection.remoteAddress)
        connection.isStarting = true
        let task = Task.immediate(executorPreference: loop) {
            let response = await respond()
            // Handlers that were resumed together are answered together. Responses sent one by one would wake the
            // receivers one by one, which costs both sides more than this turn of the queue.
            if self.connection(slot, generation)?.isStarting == false { await Task.yield() }
            self.endHandling(service)
            guard let connection = self.handlerEnded(slot, generation) else {
                self.orphanEnded(address, heldBytes)
                return
            }
            // Otherwise the 503 is being sent already, and this response is too late.
            guard connection.state == .answering else { return }
            self.finish(connection, response, answering: method, requested)
            // `advance` runs the loop of requests itself while it starts a handler.
            if !connection.isStarting { self.advance(connection) }
        }
        connection.isStarting = false
        if connection.state == .answering { connection.handler = task }
    }

    /// Returns the connection after its handler has ended; nil if the connection ended first.
    func handlerEnded(_ slot: Int, _ generation: UInt32) -> Connection? {
        guard let connection = connection(slot, generation) else { return nil }
        connection.handler = nil
        connection.requestBytes = 0
        if connection.excessBytes > 0 { _ = account(connection) }
        return connection
    }

    func finish(
        _ connection: Connection, _ response: Response, answering method: Method,
        _ requested: ResponseSerializer.Persistence
    ) {
        send(response, answering: method, persistence(requested, connection), connection)
    }

    /// Returns the connection option of a response. `requested` is what the client asked for.
    func persistence(
        _ requested: ResponseSerializer.Persistence, _ connection: Connection
    ) -> ResponseSerializer.Persistence {
        let isLast =
            configuration.maximumRequestsPerConnection > 0
            && connection.requestCount >= configuration.maximumRequestsPerConnection
        if isLast { counters.count(.requestsPerConnection) }
        connection.clientCloses = requested == .close
        return isDraining || isLast ? .close : requested
    }

    /// Releases the slot of a connection that ended before its handler, now that the handler has ended.
    func orphanEnded(_ address: SocketAddress, _ heldBytes: Int) {
        orphanedHandlers -= 1
        if heldBytes > Self.ownBytes { _ = server.reserve(Self.ownBytes - heldBytes) }
        server.release(address)
        endDrainIfDone()
    }

    /// Answers 503 because the handler took too long. Its late response is dropped.
    func abandonHandler(_ connection: Connection) {
        counters.handlerTimeouts.increment()
        counters.count(.requestTime)
        connection.handler?.cancel()
        answer(connection, .handlerTimeout)
    }

    /// Sends a response of the server itself and ends the connection.
    func answer(_ connection: Connection, _ answer: BuiltInResponse) {
        // A refused HEAD has no content either (RFC 9110 §9.3.2).
        let method: Method? = connection.parser.isHead ? .head : nil
        forgetInput(connection)
        send(builtInResponse(answer), answering: method, .close, connection)
    }

    /// Returns a response of the server itself, with `Retry-After` if it is a 503, and with the fields that
    /// `finishBuiltInResponse` adds.
    func builtInResponse(_ answer: BuiltInResponse) -> Response {
        var response = answer.response
        if response.status == .serviceUnavailable {
            response.fields.append("Retry-After", String(server.retryAfter(answer.limit)))
        }
        server.finishBuiltInResponse(&response)
        return response
    }

    /// Refuses a request with 503 because a limit is reached. The connection may stay open, because a new one would
    /// cost more. It closes if the client has sent more requests ahead, because they could occupy a whole turn of the
    /// loop.
    func shed(_ request: Request, _ limit: HTTPServer.Limit, _ connection: Connection) {
        // `account` has counted its limit already.
        if limit != .bufferedBytes { counters.count(limit) }
        let response = builtInResponse(.overloaded(limit))
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

    /// Continues to write what the client had no room for.
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

    /// Continues with the next request, or ends the connection, after a response is sent.
    func outputIsSent(_ connection: Connection) {
        if !connection.closesAfterOutput {
            connection.state = .reading
            // The next phase sets a deadline of its own.
            connection.awaited = .idle
            if isDraining { setDeadline(connection, after: idleAllowance) } else { awaitNext(connection) }
            return
        }
        // Closing while bytes are unread, or arrive later, resets the connection, and the client might lose the
        // response. Only a client that announced its last request, and sent nothing after it, can be closed at once.
        if connection.clientCloses, !connection.mayRead, connection.parser.unreadCount == 0 {
            close(connection)
        } else {
            linger(connection)
        }
    }

    /// Shuts down the sending side and keeps the connection for a moment, so that a reset does not destroy the last
    /// response.
    func linger(_ connection: Connection) {
        connection.transport.shutdownWrite()
        connection.state = .lingering
        // Bytes may have arrived that the kernel has not reported yet.
        connection.mayRead = true
        setDeadline(connection, after: configuration.lingerTimeout)
        drop(connection)
    }
}
