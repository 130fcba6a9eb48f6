internal import Locks

/// A connection that is made at its first use, and made again after it broke: at once the first time, then after pauses that
/// double. During a pause every request is refused at once. Used by one thread at a time.
final class ReconnectingConnection: Sendable {
    private struct State {
        var connection: Connection?
        /// Whether the connection was made before its first use.
        var isUnused = false
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
    private let cache: CatalogueCache
    private let time: DatabaseClock?

    /// A connection to the server at `url`. Each time that it is made it corrects `time`.
    init(
        url: String, options: PostgresStore.Options, names: StatementNames, cache: CatalogueCache,
        noting time: DatabaseClock? = nil
    ) {
        self.url = url
        self.options = options
        self.names = names
        self.cache = cache
        self.time = time
    }

    /// The shortest timeout that libpq accepts for a connection.
    private static let shortestPatience = Duration.seconds(2)

    /// Lets `body` use the connection. The error of `body` decides whether the connection is kept. If there is no connection
    /// and no time to make one, the call throws at once.
    ///
    /// A kept connection may have lost its server while it was idle. Then it is replaced and `body` runs once more, unless it
    /// has sent a commit that may have succeeded.
    func withConnection<Value>(
        until deadline: ContinuousClock.Instant, _ body: (Connection) throws(DatabaseError) -> Value
    ) throws(DatabaseError) -> Value {
        // Its server was there a moment ago, so that an error is none of an idle connection.
        let isUnused = state.withLock { state -> Bool in
            defer { state.isUnused = false }
            return state.isUnused
        }
        if let kept = takeKept() {
            do throws(DatabaseError) {
                return try use(kept, until: deadline, body)
            } catch {
                let isReplaced =
                    !isUnused && error.consequence == .distrustsConnection && !kept.canHaveCommitted
                    && options.now() < deadline
                guard isReplaced else { throw error }
                options.observer.failed(error.description)
            }
        }
        let made = try connect(until: deadline)
        guard options.now() < deadline else {
            // Other addresses of the server did not answer before. The connection is kept for the next request, because
            // otherwise every attempt would end like this one.
            giveBack(made)
            throw .lost("the connection was made too late")
        }
        return try use(made, until: deadline, body)
    }

    private func use<Value>(
        _ connection: Connection, until deadline: ContinuousClock.Instant,
        _ body: (Connection) throws(DatabaseError) -> Value
    ) throws(DatabaseError) -> Value {
        connection.beginUse()
        do throws(DatabaseError) {
            let value = try body(connection)
            giveBack(connection)
            return value
        } catch {
            let cause = cache.cause(of: error, on: connection, until: deadline)
            if error.consequence != .distrustsConnection { giveBack(connection) }
            throw cause
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
            // The new connection may lead to another server than the one at the opening of the store.
            let problem = try ServerCheck.problem(
                on: connection, noting: time, until: options.now() + options.connectPatience)
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

    /// Makes the connection if there is none. False if that is not possible at present.
    func connect(before deadline: ContinuousClock.Instant) -> Bool {
        if let kept = takeKept() {
            giveBack(kept)
            return true
        }
        do throws(DatabaseError) {
            giveBack(try connect(until: deadline))
            state.withLock { $0.isUnused = true }
            return true
        } catch { return false }
    }

    /// Closes the connection. The next use makes it again.
    func disconnect() { state.withLock { $0.connection = nil } }

    /// Closes the connection permanently.
    func close() {
        state.withLock { state in
            state.connection = nil
            state.isClosed = true
        }
    }
}
