import EventLoops
import Sockets

// What comes before the first request: the header of a proxy, which speaks in clear text, then the handshake of TLS. A
// connection of a listener that wants neither is never in this state. All of it has to be over within
// `headerTimeout`, counted from the moment in which the connection came.
extension ConnectionLoop {
    /// Begins with a connection that has its place in the table. Its first bytes have often come with it.
    func begin(_ connection: Connection) {
        if connection.state == .opening { open(connection) } else { advance(connection) }
    }

    /// Takes the next step of the opening, as far as the bytes at hand allow; called at every readiness.
    func open(_ connection: Connection) {
        finishOpening(connection)
    }

    /// The opening is over: requests may come.
    func finishOpening(_ connection: Connection) {
        connection.state = .reading
        setDeadline(connection, after: isDraining ? configuration.drainGrace : configuration.headerTimeout)
        advance(connection)
    }
}
