import EventLoops
import Sockets

// How a loop stops. Every answer from now on is the last of its connection and says so. A connection on which nothing is
// under way cannot be told anything, and to close it at once would fail the request that its client may just be sending:
// it gets a grace in which a request is still answered. Then it is half-closed, and what comes all the same is read and
// dropped, so that the client finds an orderly end before any answer, after which it may ask again (RFC 9110 §9.2.2), and
// not a reset.
extension ConnectionLoop {
    /// From now on every answer is the last of its connection. New connections are still taken, and kept on this loop.
    func beginDraining(within deadline: Duration) {
        if isDraining { return }
        isDraining = true
        drainEndsAt = now + deadline
        let graceEnd = now + configuration.drainGrace
        for connection in connections.compactMap({ $0 }) where connection.patience != nil {
            endPatience(of: connection)
        }
        for connection in connections.compactMap({ $0 }) where connection.state == .opening || connection.isIdle {
            if connection.deadline > graceEnd { setDeadline(connection, after: configuration.drainGrace) }
        }
    }

    /// How long a connection may be idle.
    var idleAllowance: Duration { isDraining ? configuration.drainGrace : configuration.idleTimeout }

    /// Returns after the turn that is under way.
    func pass() {}

    /// Returns when those who were on their way to a shared port have come, or the deadline of draining has.
    func awaitLatecomers() async {
        // Without a deadline it has come already.
        guard let drainEndsAt else { return }
        handOverEndsAt = min(now + configuration.handOverTime, drainEndsAt)
        await withCheckedContinuation { handOverEnded = $0 }
    }

    func endHandOver() {
        handOverEndsAt = nil
        handOverEnded?.resume()
        handOverEnded = nil
    }

    /// Returns when the last connection has gone, at the deadline at the latest. No new ones may come any more.
    func drain() async {
        // Without a deadline it has come already.
        if hasDrained || drainEndsAt == nil { return }
        await withCheckedContinuation { drained = $0 }
    }

    private var hasDrained: Bool { isEmpty && orphanedHandlers == 0 }

    func endDrainIfDone() {
        guard let drained, hasDrained else { return }
        drainEndsAt = nil
        self.drained = nil
        drained.resume()
    }

    /// The deadline has come: what remains is cut. A handler that does not end even now is waited for no longer.
    func cutRemaining() {
        drainEndsAt = nil
        for connection in connections.compactMap({ $0 }) {
            connection.handler?.cancel()
            close(connection)
        }
        drained?.resume()
        drained = nil
    }

    /// The grace of an idle connection is over: no more answers, and an ear for what crosses on the way.
    func bidFarewell(_ connection: Connection) {
        // A request may have come that the kernel has not told about yet.
        connection.mayRead = true
        advance(connection)
        if connection.isIdle { linger(connection) }
    }
}
