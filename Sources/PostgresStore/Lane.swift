internal import Locks

/// One connection, made when it is first needed, and anew after it broke: at once the first time, then after pauses that
/// double, in which whoever comes is refused at once. Used by one thread at a time.
final class Lane: Sendable {
    private struct State {
        var connection: Connection?
        var failures = 0
        var restsUntil: ContinuousClock.Instant?
        var lastError = DatabaseError.lost("not connected yet")
        var isClosed = false
    }

    private static let firstPause = Duration.milliseconds(50)
    private static let longestPause = Duration.seconds(2)

    private let state = Locked(State())
    private let options: PostgresStore.Options
    private let url: String

    init(url: String, options: PostgresStore.Options) {
        self.url = url
        self.options = options
    }

    /// libpq waits no shorter than that for a connection.
    private static let shortestPatience = Duration.seconds(2)

    /// Lets `body` use the connection. What it throws decides whether the connection is kept. When there is none, and no time
    /// to make one, nobody is kept waiting for it.
    func withConnection<Value>(
        until deadline: ContinuousClock.Instant, _ body: (Connection) throws(DatabaseError) -> Value
    ) throws(DatabaseError) -> Value {
        let connection = try takeConnection(until: deadline)
        do throws(DatabaseError) {
            let value = try body(connection)
            giveBack(connection)
            return value
        } catch {
            if error.consequence != .distrustsConnection { giveBack(connection) }
            throw error
        }
    }

    private func takeConnection(until deadline: ContinuousClock.Instant) throws(DatabaseError) -> Connection {
        let now = options.now()
        let left = deadline - now
        let (taken, refusal) = state.withLock { state -> (Connection?, DatabaseError?) in
            if let connection = state.connection.take() { return (connection, nil) }
            if state.isClosed { return (nil, .lost("the database is closed")) }
            if let restsUntil = state.restsUntil, now < restsUntil { return (nil, state.lastError) }
            let needed = min(Self.shortestPatience, options.decisionDeadline / 2)
            if left < needed { return (nil, .lost("no time left to connect")) }
            return (nil, nil)
        }
        if let taken { return taken }
        if let refusal { throw refusal }
        do throws(DatabaseError) {
            return try Connection(url: url, patience: min(options.connectPatience, left), now: options.now)
        } catch {
            let end = options.now()
            state.withLock { state in
                state.failures += 1
                let pause = min(Self.longestPause, Self.firstPause * (1 << min(state.failures, 10)))
                state.restsUntil = end + pause
                state.lastError = error
            }
            throw error
        }
    }

    private func giveBack(_ connection: Connection) {
        state.withLock { state in
            if !state.isClosed { state.connection = connection }
            state.failures = 0
            state.restsUntil = nil
        }
    }

    /// Lets go of the connection for good.
    func close() {
        state.withLock { state in
            state.connection = nil
            state.isClosed = true
        }
    }
}
