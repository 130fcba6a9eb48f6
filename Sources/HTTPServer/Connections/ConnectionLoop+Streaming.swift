import EventLoops
import HTTP
import Sockets
import Synchronization

/// What a connection holds while a reply takes its time.
final class Patience {
    /// Nil until the answer turns out to be a stream.
    var stream: Stream?
    /// It is to end: the client has gone, the server stops, or the time of the stream is over.
    var isOver = false

    /// A response that goes out in pieces.
    struct Stream {
        let heartbeat: [UInt8]
        let interval: Duration
        let isChunked: Bool
        /// Who produces waits here until the last piece has gone.
        var producer: CheckedContinuation<Bool, Never>?
        let endsAt: MonotonicInstant
        /// Bytes that the system was given since the last heartbeat, and with it; rather more than fewer.
        var sentCount = 0

        /// A record of TLS (RFC 8446 §5.2) adds less than this.
        private static let recordOverhead = 64

        mutating func count(_ bytes: Int, isSecure: Bool) {
            sentCount += bytes + (isSecure ? Self.recordOverhead * (1 + bytes / 16_384) : 0)
        }
    }
}

// Replies that take their time: long polls, and responses in pieces. Each is a task, like a handler, but counted apart. A
// stream is written as it is produced: whoever produces waits until the system has taken a piece, so that a stream holds one
// piece and one heartbeat at most. A client that does not read is cut by the rule for answers (`writeTimeout`); one that
// is gone without a word does not acknowledge the heartbeats. Whoever sends ahead waits for the end of the stream.
extension ConnectionLoop {
    func startPatient(
        _ request: borrowing Request, _ connection: Connection, _ wish: ResponseSerializer.Persistence,
        _ reply: StreamingReply
    ) {
        guard patientCount < patientLimit else { return shed(request, .patientReplies, connection) }
        counters.requests.increment()
        countPatient(1)
        connection.state = .answering
        connection.patience = Patience()
        setDeadline(connection, after: reply.patience + configuration.requestTimeout)
        let place = Place(
            slot: connection.slot, generation: connection.generation, address: connection.remoteAddress,
            method: request.method, isChunked: request.version != .http10, wish: wish)
        // Not begun at once: whatever it does to the connection, the connection knows of it.
        connection.handler = Task(executorPreference: loop) { await self.serve(reply, at: place) }
        // Who asks while the server stops hears what there is to say at once.
        if isDraining { endPatience(of: connection) }
    }

    /// Where a reply goes, and how.
    private struct Place {
        let slot: Int
        let generation: UInt32
        let address: SocketAddress
        let method: Method
        let isChunked: Bool
        let wish: ResponseSerializer.Persistence
    }

    private func serve(_ reply: StreamingReply, at place: Place) async {
        let (slot, generation) = (place.slot, place.generation)
        let answer = await reply.respond()
        if case .stream(let stream) = answer, place.method != .head {
            if let connection = connection(slot, generation), connection.state == .answering {
                beginStream(stream, place, connection)
            }
            if !stream.head.body.isEmpty { _ = await send(stream.head.body, slot, generation) }
            await stream.produce(StreamReader(loop: self, slot: slot, generation: generation))
        }
        countPatient(-1)
        guard let connection = handlerEnded(slot, generation) else { return orphanEnded(place.address, 0) }
        end(connection, answer, place)
        advance(connection)
    }

    private func countPatient(_ difference: Int) {
        patientCount += difference
        counters.patient.store(patientCount, ordering: .relaxed)
    }

    /// The answer is complete, or all of it that is to come.
    private func end(_ connection: Connection, _ answer: StreamingAnswer, _ place: Place) {
        connection.patience = nil
        switch (connection.state, answer) {
        case (.answering, .whole(let response)):
            finish(connection, response, answering: place.method, place.wish)
        case (.answering, .stream(let stream)): writeHead(of: stream, place, connection)
        case (.streaming, _):
            if isDraining { connection.closesAfterOutput = true }
            writeBuffer.removeAll(keepingCapacity: true)
            if place.isChunked { writeBuffer += ResponseSerializer.lastChunk }
            write(connection)
        default: return
        }
        if connection.state == .streaming { connection.state = connection.output.isEmpty ? .answering : .writing }
        if connection.state == .answering { outputIsSent(connection) }
    }

    private func beginStream(_ stream: StreamedResponse, _ place: Place, _ connection: Connection) {
        connection.patience?.stream = Patience.Stream(
            heartbeat: stream.heartbeat, interval: stream.heartbeatInterval, isChunked: place.isChunked,
            endsAt: now + stream.longest)
        connection.state = .streaming
        setDeadline(connection, after: stream.heartbeatInterval)
        writeHead(of: stream, place, connection)
    }

    private func writeHead(of stream: StreamedResponse, _ place: Place, _ connection: Connection) {
        // Without chunks, the content ends with the connection.
        let persistence = persistence(place.isChunked ? place.wish : .close, connection)
        connection.closesAfterOutput = persistence == .close
        writeBuffer.removeAll(keepingCapacity: true)
        ResponseSerializer.appendStreamHead(
            stream.head, isChunked: place.isChunked, persistence: persistence, date: date(), to: &writeBuffer)
        write(connection)
    }

    /// Hands over one piece, and returns when the system has it.
    fileprivate func send(_ piece: [UInt8], _ slot: Int, _ generation: UInt32) async -> Bool {
        guard let connection = connection(slot, generation), connection.state == .streaming,
            let patience = connection.patience, let isChunked = patience.stream?.isChunked, !patience.isOver
        else { return false }
        if piece.isEmpty { return true }
        writeBuffer.removeAll(keepingCapacity: true)
        ResponseSerializer.append(piece: piece, isChunked: isChunked, to: &writeBuffer)
        write(connection)
        if connection.state != .streaming || connection.output.isEmpty { return connection.state == .streaming }
        return await withCheckedContinuation { patience.stream?.producer = $0 }
    }

    /// Writes what is in the write buffer, after what waits already.
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
        connection.patience?.stream?.count(taken, isSecure: connection.transport.isSecure)
        if taken < writeBuffer.count { return keepOutput(from: taken, connection) }
        if let interval = connection.patience?.stream?.interval { setDeadline(connection, after: interval) }
    }

    /// All that waited has gone: the next piece may come.
    func piecesAreSent(_ connection: Connection) {
        guard let patience = connection.patience, let interval = patience.stream?.interval else { return }
        patience.stream?.count(connection.outputOffset, isSecure: connection.transport.isSecure)
        connection.outputOffset = 0
        setDeadline(connection, after: interval)
        let producer = patience.stream?.producer
        patience.stream?.producer = nil
        producer?.resume(returning: !patience.isOver)
    }

    /// Nothing was sent for a while: a heartbeat, unless the one before went unheard, or the stream has had its time.
    func keepAlive(_ connection: Connection) {
        guard let patience = connection.patience, let stream = patience.stream else { return }
        // A producer that was told to end and does not: nothing more is owed to it or its client.
        if patience.isOver { return close(connection) }
        if connection.transport.unacknowledgedCount > stream.sentCount {
            counters.timeouts.increment()
            counters.count(.writeTime)
            return close(connection)
        }
        setDeadline(connection, after: stream.interval)
        if now >= stream.endsAt { return endPatience(of: connection) }
        writeBuffer.removeAll(keepingCapacity: true)
        ResponseSerializer.append(piece: stream.heartbeat, isChunked: stream.isChunked, to: &writeBuffer)
        patience.stream?.sentCount = 0
        write(connection)
    }

    /// Has a reply end that takes its time: what answers or produces hears that it is over, and returns.
    func endPatience(of connection: Connection) {
        guard let patience = connection.patience else { return }
        patience.isOver = true
        let producer = patience.stream?.producer
        patience.stream?.producer = nil
        producer?.resume(returning: false)
        connection.handler?.cancel()
    }
}

/// The client of a stream, for whoever produces it.
private struct StreamReader: PieceReader {
    let loop: ConnectionLoop
    let slot: Int
    let generation: UInt32

    func send(_ piece: [UInt8]) async -> Bool { await loop.send(piece, slot, generation) }
}
