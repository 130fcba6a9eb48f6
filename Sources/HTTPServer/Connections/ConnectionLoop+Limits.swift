import EventLoops
import HTTP
import Sockets
import Synchronization

// Limits on memory, pending work and minimum rates. None of them costs a healthy connection more than a comparison.

extension ConnectionLoop {
    /// The memory of each connection that is not counted, in bytes. Most requests and responses fit, so that they are
    /// still served when a few large ones have used up the counted memory.
    static let ownBytes = 4096

    // MARK: Memory

    /// Counts the memory that a connection holds now. Returns false, and changes nothing, if that is too much.
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

    /// Releases the counted memory of a connection. `orphanEnded` releases the request of a handler that still runs.
    func releaseMemory(of connection: Connection) {
        let kept = connection.handler == nil ? 0 : max(0, connection.requestBytes - Self.ownBytes)
        if connection.excessBytes != kept { _ = server.reserve(kept - connection.excessBytes) }
        connection.excessBytes = 0
    }

    /// Drops all input, because the server ends the connection.
    func forgetInput(_ connection: Connection) {
        connection.parser = RequestParser(limits: configuration.limits)
        _ = account(connection)
    }

    // MARK: Pending work

    /// Counts a request as pending. Returns the limit that forbids it, if any.
    func beginHandling(_ request: Request, _ connection: Connection) -> HTTPServer.Limit? {
        let number = connection.service.number
        guard pending[number] < pendingLimit || connection.service.options.isUrgent(request) else {
            return .pendingRequests
        }
        guard holdRequest(request, connection) else { return .bufferedBytes }
        pending[number] += 1
        pendingCount += 1
        counters.pending.store(pendingCount, ordering: .relaxed)
        return nil
    }

    /// Counts the memory of a request that a handler keeps. Returns false, and counts nothing, if that is too much.
    func holdRequest(_ request: borrowing Request, _ connection: Connection) -> Bool {
        connection.requestBytes = request.heldBytes
        guard connection.requestBytes > Self.ownBytes || connection.parser.unreadCount > 0 || connection.excessBytes > 0
        else { return true }
        if account(connection) { return true }
        connection.requestBytes = 0
        return false
    }

    /// Counts one pending request less.
    func endHandling(_ service: Service) {
        pending[service.number] -= 1
        pendingCount -= 1
        counters.pending.store(pendingCount, ordering: .relaxed)
    }

    // MARK: Rates

    /// Starts a period in which content or output has to make progress, until the next deadline.
    func beginWindow(_ connection: Connection, of duration: Duration) {
        connection.windowStart = progress(of: connection)
        setDeadline(connection, after: duration)
    }

    /// Returns true, and starts the next period, if the last one made enough progress.
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

    /// The bytes of content that have arrived, or of a response that the client has acknowledged.
    private func progress(of connection: Connection) -> Int {
        connection.isWriting
            ? connection.outputOffset - connection.transport.unacknowledgedCount : connection.parser.contentCount
    }
}
