import EventLoops
import HTTP
import Sockets
import TLS

/// The state of a connection before its first request.
struct Opening {
    /// True if the first record of the handshake is complete.
    var hasFirstRecord = false
    /// True while a handshake queue works on the connection; the loop must not touch it then.
    var isHandshaking = false
    /// True if the socket became ready since the last step began.
    var isReadyAgain = false
}

// What precedes the first request: the header of a proxy in clear text, then the TLS handshake. A connection of a
// listener that requires neither is never in this state. All of it has to end within `headerTimeout` after the
// connection was accepted.
//
// The handshake queue computes the steps of a handshake. The loop only checks whether the first message of the client
// is complete. So a client that sends it byte by byte delays no other connection, and a client that does not speak TLS
// is recognized.
extension ConnectionLoop {
    /// Starts a connection that is in the table. Its first bytes have often arrived already.
    func begin(_ connection: Connection) {
        if connection.state == .opening { open(connection) } else { advance(connection) }
    }

    /// Takes the next step of the opening, as far as the received bytes allow. It is called at every readiness.
    func open(_ connection: Connection) {
        if connection.awaitsProxyHeader {
            guard readProxyHeader(connection) else { return }
        }
        if connection.service.options.tls == nil { return beginRequests(connection) }
        connection.opening.isReadyAgain = true
        if connection.opening.isHandshaking { return }
        if connection.opening.hasFirstRecord { handOver(connection) } else { awaitFirstRecord(connection) }
    }

    /// Ends the opening after the handshake, and starts to read requests.
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

    private func awaitFirstRecord(_ connection: Connection) {
        guard connection.mayRead else { return }
        switch connection.transport.peek(into: &readBuffer) {
        case .bytes(0), .failed: close(connection)
        case .wouldBlock: connection.mayRead = false
        case .bytes(let count):
            switch FirstBytes(readBuffer.span.extracting(first: count)) {
            case .incomplete:
                connection.mayRead = false
                if connection.endsSoon { close(connection) }
            case .record:
                connection.opening.hasFirstRecord = true
                handOver(connection)
            case .plainText: refusePlainText(connection)
            case .unknown:
                counters.handshakeFailures.increment()
                close(connection)
            }
        }
    }

    /// Answers in clear text to a client that speaks HTTP without TLS, because the response explains the wrong URL.
    private func refusePlainText(_ connection: Connection) {
        counters.protocolErrors.increment()
        var bytes: [UInt8] = []
        ResponseSerializer.append(
            builtInResponse(.plainText), answering: nil, persistence: .close, date: date(), to: &bytes)
        connection.transport.sendInClear(bytes)
        linger(connection)
    }

    // MARK: The handshake

    private func handOver(_ connection: Connection) {
        connection.opening.isHandshaking = true
        connection.opening.isReadyAgain = false
        let (slot, generation, transport) = (connection.slot, connection.generation, connection.transport)
        let isTaken = server.handshakes.run { [self] in
            let step = transport.handshake()
            Task.detached(executorPreference: loop) { await self.handshakeReturned(slot, generation, step) }
        }
        if isTaken { return }
        connection.opening.isHandshaking = false
        counters.count(.handshakes)
        close(connection)
    }

    private func handshakeReturned(_ slot: Int, _ generation: UInt32, _ step: TLSSession.Step) {
        // If the connection has closed meanwhile, the last reference to the transport closes its socket.
        guard let connection = connection(slot, generation) else { return }
        connection.opening.isHandshaking = false
        switch step {
        case .done(let handshake): finishOpening(connection, handshake)
        case .wantsRead, .wantsWrite:
            // Readiness that was reported while the queue had the connection is not reported again.
            if connection.opening.isReadyAgain || connection.endsSoon { handOver(connection) }
        case .failed:
            counters.handshakeFailures.increment()
            linger(connection)
        }
    }
}

/// The kind of the first bytes of a connection on which TLS is expected.
enum FirstBytes: Equatable {
    /// The start of a record.
    case incomplete
    /// A complete record of the handshake, or one with an invalid length, which libssl refuses.
    case record
    /// HTTP without TLS.
    case plainText
    /// Neither TLS nor HTTP.
    case unknown

    /// RFC 8446 §5.1: type, version, length.
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
