import EventLoops
import Sockets

// How a loop stops. From now on every response is the last of its connection and says so. An idle connection cannot be
// told, and closing it at once would fail a request that its client may be sending. So it gets a grace period in which
// a request is still answered. Then the sending side is shut down, and bytes that still arrive are read and dropped.
// The client sees an orderly end before any response, after which it may retry (RFC 9110 §9.2.2), and no reset.
extension ConnectionLoop {
    /// Makes every response from now on the last of its connection. New connections are still accepted, and stay on
    /// this loop.
    func beginDraining(within deadline: Duration) {
        if isDraining { return }
        isDraining = true
        drainEndsAt = now + deadline
        let graceEnd = now + configuration.drainGrace
        for connection in connections.compactMap({ $0 }) where connection.streamingReply != nil {
            endStreamingReply(of: connection)
        }
        for connection in connections.compactMap({ $0 }) where connection.state == .opening || connection.isIdle {
            if connection.deadline > graceEnd { setDeadline(connection, after: configuration.drainGrace) }
        }
    }

    /// The time for which a connection may be idle.
    var idleAllowance: Duration { isDraining ? configuration.drainGrace : configuration.idleTimeout }

    /// Does nothing. Its caller returns after the current turn of the loop.
    func pass() {}

    /// Returns when the time for connections on their way to a shared port is over, or at the deadline of draining.
    func awaitHandOver() async {
        // Without a deadline, it has passed already.
        guard let drainEndsAt else { return }
        handOverEndsAt = min(now + configuration.handOverTime, drainEndsAt)
        await withCheckedContinuation { handOverEnded = $0 }
    }

    func endHandOver() {
        handOverEndsAt = nil
        handOverEnded?.resume()
        handOverEnded = nil
    }

    /// Returns when the last connection has ended, at the deadline at the latest. No new connections may be accepted
    /// any more.
    func drain() async {
        // Without a deadline, it has passed already.
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

    /// Cuts the remaining connections at the deadline. Handlers that still run are not waited for.
    func cutRemaining() {
        drainEndsAt = nil
        for connection in connections.compactMap({ $0 }) {
            connection.handler?.cancel()
            close(connection)
        }
        drained?.resume()
        drained = nil
    }

    /// Ends an idle connection after its grace period. Bytes that still arrive are read and dropped.
    func closeIdle(_ connection: Connection) {
        // A request may have arrived that the kernel has not reported yet.
        connection.mayRead = true
        advance(connection)
        if connection.isIdle { linger(connection) }
    }
}
