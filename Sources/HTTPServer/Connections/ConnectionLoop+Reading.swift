import EventLoops
import HTTP
import Sockets

extension ConnectionLoop {
    /// The requests of one connection that are answered before other connections get their turn.
    private static let requestsPerTurn = 32

    /// Reads, parses and answers until a response has to be awaited or nothing is left to read.
    func advance(_ connection: Connection) {
        let last = connection.requestCount + Self.requestsPerTurn
        while connection.state == .reading {
            if connection.parser.unreadCount > 0, parse(connection) {
                if connection.requestCount >= last { return advanceLater(connection) }
                continue
            }
            guard connection.mayRead else { return awaitMore(connection) }
            receive(connection)
        }
    }

    private func receive(_ connection: Connection) {
        switch connection.transport.receive(into: &readBuffer) {
        case .bytes(0), .failed: close(connection)
        case .bytes(let count):
            // Fewer bytes than asked for mean that the socket is empty and that the kernel will report new bytes. The
            // end of the stream is different, because the kernel has reported it already.
            connection.mayRead = count == readBuffer.count || connection.endsSoon || connection.transport.holdsMore
            connection.parser.append(readBuffer.span.extracting(first: count))
        case .wouldBlock: connection.mayRead = false
        }
    }

    /// Continues with a connection that has many pipelined requests in the next turn, after the others.
    private func advanceLater(_ connection: Connection) {
        if connection.hasTurnComing { return }
        connection.hasTurnComing = true
        unfinished.append(connection)
    }

    /// Continues with the connections that were not finished in the last turn.
    func advanceUnfinished() {
        let connections = unfinished
        unfinished = []
        for connection in connections {
            connection.hasTurnComing = false
            advance(connection)
        }
    }

    /// Returns true if the received bytes led to a request for the handler, a response, or the end of the connection.
    private func parse(_ connection: Connection) -> Bool {
        while true {
            switch connection.parser.next() {
            case .needMore: return false
            case .request:
                start(connection.parser.takeRequest(), connection)
                return true
            case .expectContinue:
                if server.isShortOfMemory {
                    counters.count(.bufferedBytes)
                    answer(connection, .overloaded(.bufferedBytes))
                    return true
                }
                // The body is read in any case, because a handler gets complete requests only.
                let bytes = ResponseSerializer.continue100
                guard connection.transport.send(bytes) == .bytes(bytes.count) else {
                    close(connection)
                    return true
                }
            case .failed(let error):
                counters.protocolErrors.increment()
                if let limit = error.limit { counters.count(limit) }
                answer(connection, .refused(error))
                return true
            }
        }
    }

    /// Sets the deadline for what the client has to send next. Only progress moves it, not every byte.
    private func awaitMore(_ connection: Connection) {
        let phase = connection.parser.phase
        if phase != .idle || connection.excessBytes > 0, !account(connection) {
            answer(connection, .overloaded(.bufferedBytes))
            return
        }
        // A new connection counts as within its first head, so that its first bytes do not extend the deadline.
        guard phase != connection.awaited, !(phase == .idle && connection.requestCount == 0) else { return }
        connection.awaited = phase
        switch phase {
        case .idle: setDeadline(connection, after: idleAllowance)
        case .head: setDeadline(connection, after: configuration.headerTimeout)
        case .body: beginWindow(connection, of: configuration.bodyTimeout)
        }
    }

    /// Reads and drops what arrives after the last response, up to `lingerBytes`.
    func drop(_ connection: Connection) {
        while connection.mayRead {
            switch connection.transport.discard(into: &readBuffer) {
            case .bytes(0), .failed:
                close(connection)
                return
            case .bytes(let count):
                connection.droppedBytes += count
                if connection.droppedBytes > configuration.lingerBytes {
                    close(connection)
                    return
                }
            case .wouldBlock: connection.mayRead = false
            }
        }
    }
}
