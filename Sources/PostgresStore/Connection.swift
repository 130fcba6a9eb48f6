internal import CPostgres
internal import Glibc

/// One connection to the server, for one thread at a time. Every wait has a deadline; a connection that missed one, or broke,
/// is good for nothing any more.
/// Safe: the pointer stays in this file, and is valid from init to deinit.
// Sendable: whoever runs something takes it out of its lane first, so that one thread has it at a time, and libpq keeps
// nothing of a thread.
@safe final class Connection: @unchecked Sendable {
    private let handle: OpaquePointer
    private let now: @Sendable () -> ContinuousClock.Instant

    /// Connects to the server that `url` names, and says what kept it from doing so.
    init(
        url: String, patience: Duration, now: @escaping @Sendable () -> ContinuousClock.Instant
    ) throws(DatabaseError) {
        // What the URL says stands last and wins.
        let parameters = [
            ("fallback_application_name", "sojourn"), ("connect_timeout", String(max(2, patience.components.seconds))),
            ("client_encoding", "UTF8"), ("target_session_attrs", "read-write"), ("dbname", url),
        ]
        let handle = unsafe Self.connect(parameters)
        guard let handle = unsafe handle else { throw .lost("out of memory") }
        unsafe self.handle = handle
        self.now = now
        guard unsafe PQstatus(handle) == CONNECTION_OK else { throw .lost(message) }
        unsafe PQsetNoticeProcessor(handle, { _, _ in }, nil)
        guard unsafe PQsetnonblocking(handle, 1) == 0, unsafe PQenterPipelineMode(handle) == 1 else {
            throw .lost(message)
        }
    }

    deinit { unsafe PQfinish(handle) }

    private static func connect(_ parameters: [(String, String)]) -> OpaquePointer? {
        var texts = Packed()
        for (name, value) in parameters {
            texts.append(name)
            texts.append(value)
        }
        return unsafe texts.withPointers { pointers in
            let names = unsafe stride(from: 0, to: pointers.count, by: 2).map { unsafe pointers[$0] } + [nil]
            let values = unsafe stride(from: 1, to: pointers.count, by: 2).map { unsafe pointers[$0] } + [nil]
            return unsafe PQconnectdbParams(names, values, 1)
        }
    }

    /// Sends all statements at once and waits for all answers: one round trip. Outside of a transaction that was begun
    /// before, they are one: it commits at their end, or nothing of them has happened.
    ///
    /// - Throws: what the first statement that failed met; none after it was run.
    func run(_ statements: [Statement], until deadline: ContinuousClock.Instant) throws(DatabaseError) -> [Rows] {
        for statement in statements { try send(statement) }
        guard unsafe PQpipelineSync(handle) == 1 else { throw .lost(message) }
        return try receive(statements.count, until: deadline)
    }

    private func send(_ statement: Statement) throws(DatabaseError) {
        var packed = Packed()
        for parameter in statement.parameters {
            switch parameter {
            case .null: packed.appendNull()
            case .bytes(let bytes): packed.append(bytes)
            case .text(let text):
                // The text would end there, and be another one.
                guard !text.utf8.contains(0) else { throw .contradiction("a text with NUL cannot be kept") }
                packed.append(text)
            }
        }
        let isSent = unsafe packed.withPointers { values in
            unsafe PQsendQueryParams(
                handle, statement.text, Int32(values.count), nil, values, packed.lengths, packed.formats, 1)
        }
        guard isSent == 1 else { throw .lost(message) }
    }

    private func receive(_ count: Int, until deadline: ContinuousClock.Instant) throws(DatabaseError) -> [Rows] {
        var rows: [Rows] = []
        var failure: DatabaseError?
        while true {
            try wait(until: deadline)
            // Nil parts the results of one statement from those of the next.
            guard let result = unsafe PQgetResult(handle) else {
                guard unsafe PQstatus(handle) == CONNECTION_OK else { throw .lost(message) }
                continue
            }
            let holder = unsafe Rows(result)
            switch unsafe PQresultStatus(result) {
            case PGRES_TUPLES_OK, PGRES_COMMAND_OK: rows.append(holder)
            case PGRES_PIPELINE_SYNC:
                if let failure { throw failure }
                guard rows.count == count else { throw .lost("an answer is missing") }
                return rows
            case PGRES_PIPELINE_ABORTED: break
            default:
                let state = unsafe PQresultErrorField(result, Int32(UnicodeScalar("C").value))
                let text = unsafe String(cString: PQresultErrorMessage(result)).asOneLine
                guard let state = unsafe state, unsafe PQstatus(handle) == CONNECTION_OK else { throw .lost(text) }
                failure = failure ?? .refused(state: unsafe String(cString: state), message: text)
            }
        }
    }

    /// Sends what is left to send, and returns when the next result can be taken without waiting.
    private func wait(until deadline: ContinuousClock.Instant) throws(DatabaseError) {
        while unsafe PQisBusy(handle) == 1 {
            let unsent = unsafe PQflush(handle)
            guard unsent >= 0 else { throw .lost(message) }
            var descriptor = pollfd(
                fd: unsafe PQsocket(handle), events: Int16(POLLIN | (unsent > 0 ? POLLOUT : 0)), revents: 0)
            let left = (deadline - now()).components
            let milliseconds = left.seconds * 1000 + left.attoseconds / 1_000_000_000_000_000
            guard milliseconds > 0 else { throw .lost("no answer in time") }
            let ready = unsafe poll(&descriptor, 1, Int32(clamping: milliseconds + 1))
            if ready < 0, errno != EINTR { throw .lost("poll failed") }
            if ready > 0, unsafe PQconsumeInput(handle) == 0 { throw .lost(message) }
        }
    }

    /// Whether the connection is encrypted.
    var isEncrypted: Bool { unsafe PQsslInUse(handle) == 1 }

    /// The server's name, address, or folder of its socket.
    var host: String { unsafe PQhost(handle).map { unsafe String(cString: $0) } ?? "" }

    private var message: String { unsafe String(cString: PQerrorMessage(handle)).asOneLine }
}

extension String {
    /// Without the line ends that libpq puts into its messages.
    fileprivate var asOneLine: String {
        split(whereSeparator: \.isNewline).map { $0.drop { $0 == " " || $0 == "\t" } }.joined(separator: "; ")
    }
}

/// Texts and bytes in one piece of memory, as libpq wants to have them shown.
private struct Packed {
    private var storage: [CChar] = []
    private var offsets: [Int?] = []
    private(set) var lengths: [Int32] = []
    /// 0 for text, 1 for bytes as they are.
    private(set) var formats: [Int32] = []

    mutating func appendNull() { add(nil, length: 0, format: 0) }

    mutating func append(_ text: String) {
        add(storage.count, length: 0, format: 0)
        storage.append(contentsOf: text.utf8.lazy.map { CChar(bitPattern: $0) })
        storage.append(0)
    }

    mutating func append(_ bytes: [UInt8]) {
        add(storage.count, length: Int32(bytes.count), format: 1)
        storage.append(contentsOf: bytes.lazy.map { CChar(bitPattern: $0) })
        // Nothing is still something, and has an address.
        storage.append(0)
    }

    private mutating func add(_ offset: Int?, length: Int32, format: Int32) {
        offsets.append(offset)
        lengths.append(length)
        formats.append(format)
    }

    func withPointers<Result>(_ body: ([UnsafePointer<CChar>?]) -> Result) -> Result {
        unsafe storage.withUnsafeBufferPointer { storage in
            let pointers = unsafe offsets.map { offset in
                unsafe offset.flatMap { offset in unsafe storage.baseAddress.map { unsafe $0 + offset } }
            }
            return unsafe body(pointers)
        }
    }
}
