import EventLoops
import HTTP
import Sockets
import Synchronization

/// The state of a streaming reply in progress: a long poll or a stream.
final class StreamingReplyState {
    /// Nil until the response turns out to be a stream.
    var stream: Stream?
    /// True if the reply has to end: the client disconnected, the server stops, or the time of the stream is over.
    var isOver = false

    /// A response that is sent in pieces.
    struct Stream {
        let heartbeat: [UInt8]
        let interval: Duration
        let isChunked: Bool
        /// The producer that waits until the last piece is sent.
        var producer: CheckedContinuation<Bool, Never>?
        let endsAt: MonotonicInstant
        /// The bytes given to the system since the last heartbeat, including it; an estimate that is never too low.
        var sentCount = 0

        /// An upper bound of what a TLS record adds (RFC 8446 §5.2).
        private static let recordOverhead = 64

        mutating func count(_ bytes: Int, isSecure: Bool) {
            sentCount += bytes + (isSecure ? Self.recordOverhead * (1 + bytes / 16_384) : 0)
        }
    }
}

// Streaming replies: long polls, and responses in pieces. Each is a task, like a handler, but counted apart. The
// producer of a stream waits until the system has taken a piece, so that a stream buffers one piece and one heartbeat
// at most. `writeTimeout` cuts a client that does not read. A client that disconnected without notice is found because
// it does not acknowledge heartbeats. Pipelined requests wait for the end of the stream.
extension ConnectionLoop {
    func startStreamingReply(
        _ request: borrowing Request, _ connection: Connection, _ requested: ResponseSerializer.Persistence,
        _ reply: StreamingReply
    ) {
        let isReserved = connection.service.options.isReserved
        guard server.admitStreamingReply(isReserved: isReserved) else {
            return shed(request, isReserved ? .reservedStreamingReplies : .streamingReplies, connection)
        }
        guard holdRequest(request, connection) else {
            server.releaseStreamingReply(isReserved: isReserved)
            return shed(request, .bufferedBytes, connection)
        }
        counters.requests.increment()
        countStreamingReplies(1)
        connection.state = .answering
        connection.streamingReply = StreamingReplyState()
        setDeadline(connection, after: reply.longestWait + configuration.requestTimeout)
        let target = ReplyTarget(
            slot: connection.slot, generation: connection.generation, address: connection.remoteAddress,
            heldBytes: connection.requestBytes, isReserved: isReserved,
            method: request.method, isChunked: request.version != .http10, requested: requested)
        // The task does not start at once, so that `connection.handler` is set before the task changes the connection.
        connection.handler = Task(executorPreference: loop) { await self.serve(reply, at: target) }
        // A request that arrives while the server stops gets its response at once.
        if isDraining { endStreamingReply(of: connection) }
    }

    /// The connection that a reply belongs to, and how to write it.
    private struct ReplyTarget {
        let slot: Int
        let generation: UInt32
        let address: SocketAddress
        /// The memory of the request, which the reply keeps.
        let heldBytes: Int
        let isReserved: Bool
        let method: Method
        let isChunked: Bool
        let requested: ResponseSerializer.Persistence
    }

    private func serve(_ reply: StreamingReply, at target: ReplyTarget) async {
        let (slot, generation) = (target.slot, target.generation)
        let answer = await reply.respond()
        if case .stream(let stream) = answer, target.method != .head {
            if let connection = connection(slot, generation), connection.state == .answering {
                beginStream(stream, target, connection)
            }
            if !stream.head.body.isEmpty { _ = await send(stream.head.body, slot, generation) }
            await stream.produce(StreamReader(loop: self, slot: slot, generation: generation))
        }
        server.releaseStreamingReply(isReserved: target.isReserved)
        countStreamingReplies(-1)
        guard let connection = handlerEnded(slot, generation) else {
            return orphanEnded(target.address, target.heldBytes)
        }
        end(connection, answer, target)
        advance(connection)
    }

    private func countStreamingReplies(_ difference: Int) {
        streamingReplyCount += difference
        counters.streaming.store(streamingReplyCount, ordering: .relaxed)
    }

    /// Ends a reply after its response, or its last piece, is complete.
    private func end(_ connection: Connection, _ answer: StreamingAnswer, _ target: ReplyTarget) {
        connection.streamingReply = nil
        switch (connection.state, answer) {
        case (.answering, .whole(let response)):
            finish(connection, response, answering: target.method, target.requested)
        case (.answering, .stream(let stream)): writeHead(of: stream, target, connection)
        case (.streaming, _):
            if isDraining { connection.closesAfterOutput = true }
            writeBuffer.removeAll(keepingCapacity: true)
            if target.isChunked { writeBuffer += ResponseSerializer.lastChunk }
            write(connection)
        default: return
        }
        if connection.state == .streaming { connection.state = connection.output.isEmpty ? .answering : .writing }
        if connection.state == .answering { outputIsSent(connection) }
    }

    private func beginStream(_ stream: StreamedResponse, _ target: ReplyTarget, _ connection: Connection) {
        connection.streamingReply?.stream = StreamingReplyState.Stream(
            heartbeat: stream.heartbeat, interval: stream.heartbeatInterval, isChunked: target.isChunked,
            endsAt: now + stream.longest)
        connection.state = .streaming
        setDeadline(connection, after: stream.heartbeatInterval)
        writeHead(of: stream, target, connection)
    }

    private func writeHead(of stream: StreamedResponse, _ target: ReplyTarget, _ connection: Connection) {
        // Without chunks, the close of the connection ends the content.
        let persistence = persistence(target.isChunked ? target.requested : .close, connection)
        connection.closesAfterOutput = persistence == .close
        writeBuffer.removeAll(keepingCapacity: true)
        ResponseSerializer.appendStreamHead(
            stream.head, isChunked: target.isChunked, persistence: persistence, date: date(), to: &writeBuffer)
        write(connection)
    }

    /// Sends one piece and returns when the system has taken it.
    fileprivate func send(_ piece: [UInt8], _ slot: Int, _ generation: UInt32) async -> Bool {
        guard let connection = connection(slot, generation), connection.state == .streaming,
            let streamingReply = connection.streamingReply, let isChunked = streamingReply.stream?.isChunked,
            !streamingReply.isOver
        else { return false }
        if piece.isEmpty { return true }
        writeBuffer.removeAll(keepingCapacity: true)
        ResponseSerializer.append(piece: piece, isChunked: isChunked, to: &writeBuffer)
        write(connection)
        if connection.state != .streaming || connection.output.isEmpty { return connection.state == .streaming }
        return await withCheckedContinuation { streamingReply.stream?.producer = $0 }
    }

    /// Writes the write buffer, after output that waits already.
    private func write(_ connection: Connection) {
        guard connection.output.isEmpty else {
            connection.output += writeBuffer
            if !account(connection) { close(connection) }
            return
        }
        let taken: Int
        switch connection.transport.send(writeBuffer) {
        case .failed: return close(connection)
        case .bytes(let count): taken = count
        case .wouldBlock: taken = 0
        }
        connection.streamingReply?.stream?.count(taken, isSecure: connection.transport.isSecure)
        if taken < writeBuffer.count { return keepOutput(from: taken, connection) }
        if let interval = connection.streamingReply?.stream?.interval { setDeadline(connection, after: interval) }
    }

    /// Resumes the producer after all waiting output is sent.
    func piecesAreSent(_ connection: Connection) {
        guard let streamingReply = connection.streamingReply, let interval = streamingReply.stream?.interval else {
            return
        }
        streamingReply.stream?.count(connection.outputOffset, isSecure: connection.transport.isSecure)
        connection.outputOffset = 0
        setDeadline(connection, after: interval)
        let producer = streamingReply.stream?.producer
        streamingReply.stream?.producer = nil
        producer?.resume(returning: !streamingReply.isOver)
    }

    /// Sends a heartbeat after a period without pieces. Closes the connection if the last heartbeat was not
    /// acknowledged, and ends the stream if its time is over.
    func keepAlive(_ connection: Connection) {
        guard let streamingReply = connection.streamingReply, let stream = streamingReply.stream else { return }
        // The producer was cancelled and has not ended, so the connection closes without waiting longer.
        if streamingReply.isOver { return close(connection) }
        if connection.transport.unacknowledgedCount > stream.sentCount {
            counters.timeouts.increment()
            counters.count(.writeTime)
            return close(connection)
        }
        setDeadline(connection, after: stream.interval)
        if now >= stream.endsAt { return endStreamingReply(of: connection) }
        writeBuffer.removeAll(keepingCapacity: true)
        ResponseSerializer.append(piece: stream.heartbeat, isChunked: stream.isChunked, to: &writeBuffer)
        streamingReply.stream?.sentCount = 0
        write(connection)
    }

    /// Ends a streaming reply: cancels its task and tells its producer to return.
    func endStreamingReply(of connection: Connection) {
        guard let streamingReply = connection.streamingReply else { return }
        streamingReply.isOver = true
        let producer = streamingReply.stream?.producer
        streamingReply.stream?.producer = nil
        producer?.resume(returning: false)
        connection.handler?.cancel()
    }
}

/// The client of a stream, as its producer sees it.
private struct StreamReader: PieceReader {
    let loop: ConnectionLoop
    let slot: Int
    let generation: UInt32

    func send(_ piece: [UInt8]) async -> Bool { await loop.send(piece, slot, generation) }
}
