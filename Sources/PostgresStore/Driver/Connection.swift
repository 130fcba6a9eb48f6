internal import CPostgres
internal import Glibc

/// One connection to the server, used by one thread at a time. Every wait has a deadline. A connection that missed a deadline
/// or broke is invalid.
/// Safe: the pointer stays in this file, and is valid from init to deinit.
// Sendable: a `ReconnectingConnection` gives a connection to one thread at a time, and libpq keeps no state of a thread.
@safe final class Connection: @unchecked Sendable {
    private let handle: OpaquePointer
    private let now: @Sendable () -> ContinuousClock.Instant
    private let names: StatementNames
    /// The names that the server knows on this connection.
    private var prepared: Set<String> = []
    /// Whether a commit was sent since `beginUse`. If the connection then breaks, the outcome of the commit is unknown.
    private(set) var canHaveCommitted = false

    /// Connects to the server that `url` names. Throws the reason of a failure.
    init(
        url: String, patience: Duration, names: StatementNames = StatementNames(),
        now: @escaping @Sendable () -> ContinuousClock.Instant
    ) throws(DatabaseError) {
        if let failure = Library.shared.failure { throw .lost("libpq cannot be loaded (package libpq5): \(failure)") }
        let handle = unsafe Self.withParameters(url, patience) { names, values in
            unsafe libpq.PQconnectdbParams(names, values, 1)
        }
        guard let handle = unsafe handle else { throw .lost("out of memory") }
        unsafe self.handle = handle
        self.now = now
        self.names = names
        guard unsafe libpq.PQstatus(handle) == CONNECTION_OK else { throw .lost(message) }
        _ = unsafe libpq.PQsetNoticeProcessor(handle, { _, _ in }, nil)
        guard unsafe libpq.PQsetnonblocking(handle, 1) == 0, unsafe libpq.PQenterPipelineMode(handle) == 1 else {
            throw .lost(message)
        }
    }

    /// Connects for a few statements, which have no names.
    convenience init(url: String, _ options: PostgresStore.Options) throws(DatabaseError) {
        try self.init(
            url: url, patience: options.connectPatience, names: StatementNames(areUsed: false), now: options.now)
    }

    deinit { unsafe libpq.PQfinish(handle) }

    /// Whether the server that `url` names takes connections, or the URL cannot be used at all. One that begins, stops or
    /// recovers takes none.
    static func isAnswered(url: String, atMost limit: Duration) -> Bool {
        let answer = unsafe withParameters(url, limit) { names, values in
            unsafe libpq.PQpingParams(names, values, 1)
        }
        return answer == PQPING_OK || answer == PQPING_NO_ATTEMPT
    }

    /// Runs `body` with the parameters of a connection, in the form of libpq.
    private static func withParameters<Value>(
        _ url: String, _ limit: Duration,
        _ body: ([UnsafePointer<CChar>?], [UnsafePointer<CChar>?]) -> Value
    ) -> Value {
        // The last entry wins, so the URL overrides the other parameters.
        let parameters = [
            ("fallback_application_name", "sojourn"), ("connect_timeout", String(max(2, limit.components.seconds))),
            ("client_encoding", "UTF8"), ("target_session_attrs", "read-write"), ("dbname", url),
        ]
        var texts = Packed()
        for (name, value) in parameters {
            texts.append(name)
            texts.append(value)
        }
        return unsafe texts.withPointers { pointers in
            let names = unsafe stride(from: 0, to: pointers.count, by: 2).map { unsafe pointers[$0] } + [nil]
            let values = unsafe stride(from: 1, to: pointers.count, by: 2).map { unsafe pointers[$0] } + [nil]
            return unsafe body(names, values)
        }
    }

    /// Whether the server is still connected, as far as that shows without a request: a server that closed the connection has
    /// sent its end.
    var isAlive: Bool {
        var descriptor = pollfd(fd: unsafe libpq.PQsocket(handle), events: Int16(POLLIN), revents: 0)
        // A message that has arrived is consumed. A descriptor that stays readable is at the end of the connection.
        while unsafe poll(&descriptor, 1, 0) > 0 {
            guard unsafe libpq.PQconsumeInput(handle) == 1, unsafe libpq.PQstatus(handle) == CONNECTION_OK else {
                return false
            }
        }
        return true
    }

    /// Resets `canHaveCommitted` for the next user of the connection.
    func beginUse() { canHaveCommitted = false }

    /// Sends all statements at once and waits for all answers, in one round trip. Outside of an open transaction, the
    /// statements form one transaction, which commits at their end or is rolled back as a whole.
    ///
    /// - Parameter commits: whether a change is durable after the call.
    /// - Throws: the error of the first failed statement; no later statement was run.
    func run(
        _ statements: [Statement], commits: Bool, until deadline: ContinuousClock.Instant
    ) throws(DatabaseError) -> [Rows] {
        // Once the caller's deadline has passed, no statement is sent, least of all a commit.
        guard now() < deadline else { throw .lost("no time left") }
        if commits { canHaveCommitted = true }
        let usesNames = names.areUsed
        var expected: [Expected] = []
        for statement in statements { try send(statement, usesNames, &expected) }
        guard unsafe libpq.PQpipelineSync(handle) == 1 else { throw .lost(message) }
        do throws(DatabaseError) {
            return try receive(expected, until: deadline)
        } catch {
            guard usesNames, case .refused(let state, let text) = error, StatementNames.isConfusion(state) else {
                throw error
            }
            names.giveUp()
            throw .forgotten(text)
        }
    }

    /// Runs read-only statements outside of a transaction, in one round trip. The server, too, gives up at `deadline`, because
    /// a read that waits for a lock would otherwise occupy a server connection after its caller has given up.
    func read(_ statements: [Statement], until deadline: ContinuousClock.Instant) throws(DatabaseError) -> [Rows] {
        let limit = Transaction.timeLimit(deadline - now())
        return Array(try run([limit] + statements, commits: false, until: deadline).dropFirst())
    }

    /// The request that an answer belongs to.
    private enum Expected {
        case statement
        case preparation(name: String)
    }

    private func send(
        _ statement: Statement, _ usesNames: Bool, _ expected: inout [Expected]
    ) throws(DatabaseError) {
        let packed = try Self.packed(statement.parameters)
        let name = usesNames ? statement.name : nil
        if let name, !prepared.contains(name) {
            guard unsafe libpq.PQsendPrepare(handle, name, statement.text, 0, nil) == 1 else { throw .lost(message) }
            // Recorded before the answer, because a later statement may use the same name. A failure removes it again.
            prepared.insert(name)
            expected.append(.preparation(name: name))
        }
        let isSent = unsafe packed.withPointers { values in
            let count = Int32(unsafe values.count)
            return if let name {
                unsafe libpq.PQsendQueryPrepared(handle, name, count, values, packed.lengths, packed.formats, 1)
            } else {
                unsafe libpq.PQsendQueryParams(
                    handle, statement.text, count, nil, values, packed.lengths, packed.formats, 1)
            }
        }
        guard isSent == 1 else { throw .lost(message) }
        expected.append(.statement)
    }

    private static func packed(_ parameters: [Parameter]) throws(DatabaseError) -> Packed {
        var packed = Packed()
        for parameter in parameters {
            switch parameter {
            case .null: packed.appendNull()
            case .bytes(let bytes): packed.append(bytes)
            case .text(let text):
                // The protocol ends a text at NUL, so the server would store a different text.
                guard !text.utf8.contains(0) else { throw .contradiction("a text with NUL cannot be kept") }
                packed.append(text)
            }
        }
        return packed
    }

    private func receive(
        _ expected: [Expected], until deadline: ContinuousClock.Instant
    ) throws(DatabaseError) -> [Rows] {
        var rows: [Rows] = []
        var expected = expected[...]
        var failure: DatabaseError?
        while true {
            try wait(until: deadline)
            // Nil separates the results of one statement from those of the next.
            guard let result = unsafe libpq.PQgetResult(handle) else {
                guard unsafe libpq.PQstatus(handle) == CONNECTION_OK else { throw .lost(message) }
                continue
            }
            let holder = unsafe Rows(result)
            let status = unsafe libpq.PQresultStatus(result)
            if status == PGRES_PIPELINE_SYNC {
                if let failure { throw failure }
                guard expected.isEmpty else { throw .lost("an answer is missing") }
                return rows
            }
            let subject = expected.popFirst()
            if status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK {
                if case .statement? = subject { rows.append(holder) }
                continue
            }
            if case .preparation(let name)? = subject { prepared.remove(name) }
            if status == PGRES_PIPELINE_ABORTED { continue }
            let state = unsafe libpq.PQresultErrorField(result, Int32(UnicodeScalar("C").value))
            let text = unsafe String(libpq: libpq.PQresultErrorMessage(result)).asOneLine
            guard let state = unsafe state, unsafe libpq.PQstatus(handle) == CONNECTION_OK else { throw .lost(text) }
            failure = failure ?? .refused(state: unsafe String(cString: state), message: text)
        }
    }

    /// Sends the remaining output, and returns when the next result can be read without waiting.
    private func wait(until deadline: ContinuousClock.Instant) throws(DatabaseError) {
        while unsafe libpq.PQisBusy(handle) == 1 {
            let unsent = unsafe libpq.PQflush(handle)
            guard unsent >= 0 else { throw .lost(message) }
            var descriptor = pollfd(
                fd: unsafe libpq.PQsocket(handle), events: Int16(POLLIN | (unsent > 0 ? POLLOUT : 0)), revents: 0)
            let left = (deadline - now()).components
            let milliseconds = left.seconds * 1000 + left.attoseconds / 1_000_000_000_000_000
            guard milliseconds > 0 else { throw .lost("no answer in time") }
            let ready = unsafe poll(&descriptor, 1, Int32(clamping: milliseconds + 1))
            if ready < 0, errno != EINTR { throw .lost("poll failed") }
            if ready > 0, unsafe libpq.PQconsumeInput(handle) == 0 { throw .lost(message) }
        }
    }

    /// Whether the connection is encrypted.
    var isEncrypted: Bool { unsafe libpq.PQsslInUse(handle) == 1 }

    /// The server's name, its address, or the folder of its socket.
    var host: String { unsafe String(libpq: libpq.PQhost(handle)) }

    private var message: String { unsafe String(libpq: libpq.PQerrorMessage(handle)).asOneLine }
}

extension String {
    /// The text on one line, because libpq puts line ends into its messages.
    fileprivate var asOneLine: String {
        split(whereSeparator: \.isNewline).map { $0.drop { $0 == " " || $0 == "\t" } }.joined(separator: "; ")
    }
}
