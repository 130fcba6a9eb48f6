internal import Locks

/// One connection, made when it is first needed, and anew after it broke: at once the first time, then after pauses that
/// double, in which whoever comes is refused at once. Used by one thread at a time.
final class ReconnectingConnection: Sendable {
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
    private let names: StatementNames

    init(url: String, options: PostgresStore.Options, names: StatementNames) {
        self.url = url
        self.options = options
        self.names = names
    }

    /// libpq waits no shorter than that for a connection.
    private static let shortestPatience = Duration.seconds(2)

    /// Lets `body` use the connection. What it throws decides whether the connection is kept. When there is none, and no time
    /// to make one, nobody is kept waiting for it.
    ///
    /// A connection that was kept may have lost its server while nobody used it. That costs nobody an answer: it is replaced,
    /// and `body` is run once more, unless it has sent something of which the commit may have come through.
    func withConnection<Value>(
        until deadline: ContinuousClock.Instant, _ body: (Connection) throws(DatabaseError) -> Value
    ) throws(DatabaseError) -> Value {
        if let kept = takeKept() {
            do throws(DatabaseError) {
                return try use(kept, body)
            } catch {
                let isReplaced =
                    error.consequence == .distrustsConnection && !kept.canHaveCommitted && options.now() < deadline
                guard isReplaced else { throw error }
                options.observer.failed(error.description)
            }
        }
        let made = try connect(until: deadline)
        guard options.now() < deadline else {
            // Other addresses of the server were silent before. Whoever comes next finds it; else nobody ever would.
            giveBack(made)
            throw .lost("the connection was made too late")
        }
        return try use(made, body)
    }

    private func use<Value>(
        _ connection: Connection, _ body: (Connection) throws(DatabaseError) -> Value
    ) throws(DatabaseError) -> Value {
        connection.beginUse()
        do throws(DatabaseError) {
            let value = try body(connection)
            giveBack(connection)
            return value
        } catch {
            if error.consequence != .distrustsConnection { giveBack(connection) }
            throw error
        }
    }

    private func takeKept() -> Connection? {
        guard let connection = state.withLock({ $0.connection.take() }), connection.isAlive else { return nil }
        return connection
    }

    private func connect(until deadline: ContinuousClock.Instant) throws(DatabaseError) -> Connection {
        let now = options.now()
        let left = deadline - now
        let refusal = state.withLock { state -> DatabaseError? in
            if state.isClosed { return .lost("the database is closed") }
            if let restsUntil = state.restsUntil, now < restsUntil { return state.lastError }
            let needed = min(Self.shortestPatience, options.decisionDeadline / 2)
            if left < needed { return .lost("no time left to connect") }
            return nil
        }
        if let refusal { throw refusal }
        do throws(DatabaseError) {
            let connection = try Connection(
                url: url, patience: min(options.connectPatience, left), names: names, now: options.now)
            // It may lead to another server than the one that was there when the store was opened.
            let problem = try ServerCheck.problem(on: connection, until: options.now() + options.connectPatience)
            if let problem { throw .lost(problem.description) }
            return connection
        } catch {
            let end = options.now()
            state.withLock { state in
                let pause = min(Self.longestPause, Self.firstPause * (1 << min(state.failures, 10)))
                state.failures += 1
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
