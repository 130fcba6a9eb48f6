import EventLoops
import HTTP
import Sockets
import TLS

/// How far a connection has come before its first request.
struct Opening {
    /// The first record of the handshake is there in full.
    var hasGreeting = false
    /// A handshake queue has the connection: the loop leaves it alone until it comes back.
    var isAway = false
    /// The socket became ready since the last step began.
    var hasNews = false
}

// What comes before the first request: the header of a proxy, which speaks in clear text, then the handshake of TLS. A
// connection of a listener that wants neither is never in this state. All of it has to be over within
// `headerTimeout`, counted from the moment in which the connection came.
//
// Steps of the handshake compute on the handshake queue. The loop only looks whether the client's first message is there: whoever
// sends it a byte at a time costs nobody else anything, and whoever does not speak TLS is found out.
extension ConnectionLoop {
    /// Begins with a connection that has its place in the table. Its first bytes have often come with it.
    func begin(_ connection: Connection) {
        if connection.state == .opening { open(connection) } else { advance(connection) }
    }

    /// Takes the next step of the opening, as far as the bytes at hand allow; called at every readiness.
    func open(_ connection: Connection) {
        if connection.awaitsProxyHeader {
            guard readProxyHeader(connection) else { return }
        }
        if connection.service.options.tls == nil { return beginRequests(connection) }
        connection.opening.hasNews = true
        if connection.opening.isAway { return }
        if connection.opening.hasGreeting { handOver(connection) } else { awaitGreeting(connection) }
    }

    /// The opening is over: requests may come.
    private func finishOpening(_ connection: Connection, _ handshake: TLSSession.Handshake) {
        connection.context = RequestContext(
            remoteAddress: connection.remoteAddress, listenerName: connection.service.options.name, isSecure: true,
            clientCertificate: handshake.clientCertificate.map {
                ClientCertificate(subject: $0.subject, sha256: $0.sha256)
            })
        counters.handshakes.increment()
        if handshake.isResumed { counters.resumedHandshakes.increment() }
        // Requests may have come with the last message of the handshake.
        connection.mayRead = true
        beginRequests(connection)
    }

    private func beginRequests(_ connection: Connection) {
        connection.state = .reading
        setDeadline(connection, after: isDraining ? configuration.drainGrace : configuration.headerTimeout)
        advance(connection)
    }

    // MARK: The first bytes

    private func awaitGreeting(_ connection: Connection) {
        guard connection.mayRead else { return }
        switch connection.transport.peek(into: &readBuffer) {
        case .bytes(0), .failed: close(connection)
        case .wouldBlock: connection.mayRead = false
        case .bytes(let count):
            switch Greeting(readBuffer.span.extracting(first: count)) {
            case .incomplete:
                connection.mayRead = false
                if connection.endsSoon { close(connection) }
            case .record:
                connection.opening.hasGreeting = true
                handOver(connection)
            case .plainText: refusePlainText(connection)
            case .unknown:
                counters.handshakeFailures.increment()
                close(connection)
            }
        }
    }

    /// Somebody speaks HTTP where TLS is spoken: a wrong URL, which an answer in the same language explains best.
    private func refusePlainText(_ connection: Connection) {
        counters.protocolErrors.increment()
        var bytes: [UInt8] = []
        ResponseSerializer.append(
            ownResponse(.plainText), answering: nil, persistence: .close, date: date(), to: &bytes)
        connection.transport.sendInClear(bytes)
        linger(connection)
    }

    // MARK: The handshake

    private func handOver(_ connection: Connection) {
        connection.opening.isAway = true
        connection.opening.hasNews = false
        let (slot, generation, transport) = (connection.slot, connection.generation, connection.transport)
        let isTaken = server.handshakes.run { [self] in
            let step = transport.handshake()
            Task.detached(executorPreference: loop) { await self.handshakeCameBack(slot, generation, step) }
        }
        if isTaken { return }
        connection.opening.isAway = false
        counters.count(.handshakes)
        close(connection)
    }

    private func handshakeCameBack(_ slot: Int, _ generation: UInt32, _ step: TLSSession.Step) {
        // Whoever has left meanwhile is closed with the last reference to the transport.
        guard let connection = connection(slot, generation) else { return }
        connection.opening.isAway = false
        switch step {
        case .done(let handshake): finishOpening(connection, handshake)
        case .wantsRead, .wantsWrite:
            // What was announced while the connection was away is not announced again.
            if connection.opening.hasNews || connection.endsSoon { handOver(connection) }
        case .failed:
            counters.handshakeFailures.increment()
            linger(connection)
        }
    }
}

/// What the first bytes of a connection tell, if TLS is expected.
enum Greeting: Equatable {
    /// A record has begun, but is not complete.
    case incomplete
    /// A complete record of the handshake, or one that is too long to be one: libssl judges it.
    case record
    /// HTTP without TLS.
    case plainText
    /// Neither.
    case unknown

    /// RFC 8446 §5.1: a type, a version, a length.
    private static let headerCount = 5
    private static let handshakeType: UInt8 = 22
    private static let longestRecord = 16_384

    init(_ bytes: Span<UInt8>) {
        guard bytes[0] == Self.handshakeType else {
            // Methods begin with a letter.
            self = (0x41...0x5A).contains(bytes[0] & 0xDF) ? .plainText : .unknown
            return
        }
        guard bytes.count >= Self.headerCount else {
            self = .incomplete
            return
        }
        let count = Int(bytes[3]) << 8 | Int(bytes[4])
        self = count <= Self.longestRecord && bytes.count < Self.headerCount + count ? .incomplete : .record
    }
}
