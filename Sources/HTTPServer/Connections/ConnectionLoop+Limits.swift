import EventLoops
import HTTP
import Sockets
import Synchronization

// Memory, pending work and minimum rates. None of them costs a connection in good health more than a comparison.

extension ConnectionLoop {
    /// Memory that each connection has of its own, in bytes: most requests and answers fit, so that a shortage, which a few
    /// with large ones can bring about, does not turn them away.
    static let ownBytes = 4096

    // MARK: Memory

    /// Counts what a connection holds now. False when there is no room for that: nothing has changed then.
    func account(_ connection: Connection) -> Bool {
        let held = connection.parser.heldBytes + connection.output.capacity + connection.requestBytes
        let excess = max(0, held - Self.ownBytes)
        guard excess != connection.excessBytes else { return true }
        guard server.reserve(excess - connection.excessBytes) else {
            counters.count(.bufferedBytes)
            return false
        }
        connection.excessBytes = excess
        return true
    }

    /// Gives back what a connection held. The request of a handler that runs on is given back by `orphanEnded`.
    func releaseMemory(of connection: Connection) {
        let kept = connection.handler == nil ? 0 : max(0, connection.requestBytes - Self.ownBytes)
        if connection.excessBytes != kept { _ = server.reserve(kept - connection.excessBytes) }
        connection.excessBytes = 0
    }

    /// The engine ends the connection: what came in and what may still come is of no interest.
    func forgetInput(_ connection: Connection) {
        connection.parser = RequestParser(limits: configuration.limits)
        _ = account(connection)
    }

    // MARK: Pending work

    /// Takes a place among the requests in handlers, if there is one; the limit that says no otherwise.
    func beginHandling(_ request: Request, _ connection: Connection) -> HTTPServer.Limit? {
        let number = connection.service.number
        guard pending[number] < pendingLimit || connection.service.options.isUrgent(request) else {
            return .pendingRequests
        }
        connection.requestBytes = request.heldBytes
        if connection.requestBytes > Self.ownBytes || connection.parser.unreadCount > 0 || connection.excessBytes > 0 {
            guard account(connection) else {
                connection.requestBytes = 0
                return .bufferedBytes
            }
        }
        pending[number] += 1
        pendingCount += 1
        counters.pending.store(pendingCount, ordering: .relaxed)
        return nil
    }

    /// Gives the place back.
    func endHandling(_ service: Service) {
        pending[service.number] -= 1
        pendingCount -= 1
        counters.pending.store(pendingCount, ordering: .relaxed)
    }

    // MARK: Rates

    /// Counts anew from here on what content has to bring, or an answer to get rid of, until the next deadline.
    func beginWindow(_ connection: Connection, of duration: Duration) {
        connection.windowStart = progress(of: connection)
        setDeadline(connection, after: duration)
    }

    /// Whether the time that is over has brought enough for another.
    func keepsUp(_ connection: Connection) -> Bool {
        let (rate, duration) =
            connection.isWriting
            ? (configuration.writeMinimumRate, configuration.writeTimeout)
            : (configuration.bodyMinimumRate, configuration.bodyTimeout)
        let progress = progress(of: connection) - connection.windowStart
        // Durations of days and rates of gigabytes per second are far from overflowing.
        guard progress >= max(1, rate * Int(duration.components.seconds)) else { return false }
        beginWindow(connection, of: duration)
        return true
    }

    /// Bytes of content that have come, or of an answer that the client has.
    private func progress(of connection: Connection) -> Int {
        connection.isWriting
            ? connection.outputOffset - connection.transport.unacknowledgedCount : connection.parser.contentCount
    }
}
