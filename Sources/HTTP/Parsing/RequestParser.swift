/// Turns the bytes of one connection into requests.
///
/// Feed it with `append` and call `next` until it answers `needMore`. The events depend on the bytes alone, not on how
/// they were cut (but for `expectContinue`, which is left out when the content has already begun to arrive).
public struct RequestParser: Sendable {
    /// What the bytes so far amount to.
    public enum Event: Equatable, Sendable {
        /// Nothing more to say before more bytes come.
        case needMore
        /// A head with content to follow is read, and its sender waits for `100 Continue`. Comes once for a request.
        case expectContinue
        /// A complete request: `takeRequest` has it.
        case request
        /// The bytes cannot be trusted any more. Answer with `status`, close; the parser stays here.
        case failed(ProtocolError)
    }

    /// Where the connection stands, for its deadlines.
    public enum Phase: Hashable, Sendable {
        /// Between two requests, nothing of the next one is there.
        case idle
        /// Within a request line or the fields.
        case head
        /// The head is complete, its content is not.
        case body
    }

    private enum Stage {
        case requestLine
        case fields
        case length(Int)
        case chunked
        case failed(ProtocolError)
    }

    /// Memory that a connection may keep while it idles: most requests fit, ten thousand connections hardly notice.
    private static let idleCapacity = 2048
    /// Enough for the fields of most requests, so that collecting them allocates once.
    private static let expectedFieldCount = 16

    /// The limits that this parser was made with.
    public let limits: Limits
    /// Whether the connection is secured, or comes from a gateway that is trusted to have been: only then may a target name
    /// `https` (RFC 9110 §7.4). Otherwise: 421.
    public var isSecure: Bool
    /// Whether the request that is read, was read last, or was refused is `HEAD`, whose answer has no content whatever it
    /// says (RFC 9110 §9.3.2). False before a request line is complete.
    public private(set) var isHead = false

    /// Bytes as they came. Those before `start` are done with.
    private var buffer: [UInt8] = []
    private var start = 0
    /// The start of the line that is being read, and how far it was scanned.
    private var lineStart = 0
    private var scanned = 0

    private var stage = Stage.requestLine
    private var emptyLines = 0
    private var entries: [Fields.Entry] = []
    /// The request that is being read, as far as it is known, or that nobody has taken yet.
    private var pending: Request?
    /// The authority of its target, when it was absolute: it replaces the `Host` field (RFC 9112 §3.2.2).
    private var authority: String?
    private var continueIsDue = false
    private var chunks = ChunkedDecoder()
    private var body: [UInt8] = []

    /// A parser that has read nothing.
    public init(limits: Limits = Limits(), isSecure: Bool = false) {
        self.limits = limits
        self.isSecure = isSecure
    }

    /// Where the connection stands. `idle` after a failure: nothing is awaited any more.
    public var phase: Phase {
        switch stage {
        case .requestLine: unreadCount == 0 ? .idle : .head
        case .fields: .head
        case .length, .chunked: .body
        case .failed: .idle
        }
    }

    /// How many bytes were appended and not yet turned into requests: what the connection should bound its reading by.
    public var unreadCount: Int { buffer.count - start }

    /// Memory that the unfinished request takes, in bytes; at most 2 KiB when idle.
    public var heldBytes: Int {
        buffer.capacity + body.capacity + entries.capacity * MemoryLayout<Fields.Entry>.stride
            + (pending?.heldBytes ?? 0)
    }

    /// How many bytes of the content have come, for a minimum rate; 0 outside of content.
    public var contentCount: Int {
        switch stage {
        case .length: unreadCount
        case .chunked: body.count + unreadCount
        case .requestLine, .fields, .failed: 0
        }
    }
}

// Bytes in.
extension RequestParser {
    /// Adds bytes that were read.
    public mutating func append(_ bytes: [UInt8]) {
        guard prepareToAppend() else { return }
        buffer.append(contentsOf: bytes)
    }

    /// Adds bytes that were read. They are copied.
    public mutating func append(_ bytes: Span<UInt8>) {
        guard prepareToAppend() else { return }
        unsafe bytes.withUnsafeBufferPointer { unsafe buffer.append(contentsOf: $0) }
    }

    /// Adds bytes that were read. They are copied.
    public mutating func append(_ bytes: UnsafeRawBufferPointer) {
        guard prepareToAppend() else { return }
        unsafe buffer.append(contentsOf: bytes)
    }

    /// Drops what is done with once it is half of the buffer, so that each byte moves at most once on average.
    /// False after a failure, when nothing is read any more.
    private mutating func prepareToAppend() -> Bool {
        if case .failed = stage { return false }
        if start > 0, start >= buffer.count - start {
            buffer.removeSubrange(0..<start)
            lineStart -= start
            scanned -= start
            start = 0
        }
        return true
    }
}

// Events out.
extension RequestParser {
    /// The next event. Call it again until it is `needMore` or `failed`.
    public mutating func next() -> Event {
        do throws(ProtocolError) {
            while true {
                if let event = try advance() { return event }
            }
        } catch {
            buffer = []
            start = 0
            entries = []
            body = []
            pending = nil
            stage = .failed(error)
            return .failed(error)
        }
    }

    /// The request that `next` has just announced, once.
    public mutating func takeRequest() -> Request {
        guard let request = pending.take() else { preconditionFailure("no request was announced") }
        return request
    }

    /// One step. Nil when there is more to do at once.
    private mutating func advance() throws(ProtocolError) -> Event? {
        switch stage {
        case .requestLine: return try readRequestLine()
        case .fields: return try readFields()
        case .length(let count):
            guard unreadCount >= count else { return waitForContent() }
            let end = start + count
            body = Array(buffer[start..<end])
            start = end
            return completed()
        case .chunked:
            guard unreadCount > 0 else { return waitForContent() }
            continueIsDue = false
            return try chunks.decode(buffer, &start, into: &body, limits: limits) ? completed() : .needMore
        case .failed(let error): throw error
        }
    }

    private mutating func readRequestLine() throws(ProtocolError) -> Event? {
        isHead = false
        let found: Range<Int>?
        do throws(ProtocolError) {
            found = try nextLine(limit: start + limits.requestLine, tooLong: .requestLineTooLong)
        } catch {
            guard error == .requestLineTooLong else { throw error }
            throw RequestLine.tooLong(buffer.span.extracting(start..<buffer.count), limits: limits)
        }
        guard let line = found else { return .needMore }
        start = lineStart
        if line.isEmpty {
            emptyLines += 1
            guard emptyLines <= limits.leadingEmptyLines else { throw .leadingEmptyLines }
            releaseBufferWhenDone()
            return nil
        }
        let parsed = try RequestLine(parsing: buffer.span.extracting(line), limits: limits, isSecure: isSecure)
        isHead = parsed.method == .head
        pending = Request(method: parsed.method, target: parsed.target, version: parsed.version)
        authority = parsed.authority
        stage = .fields
        entries.reserveCapacity(Self.expectedFieldCount)
        return nil
    }

    /// Reads field lines up to the empty line that ends the head. `start` stays at the first of them until then.
    private mutating func readFields() throws(ProtocolError) -> Event? {
        while let line = try nextLine(limit: start + limits.fieldBytes, tooLong: .fieldsTooLarge) {
            if line.isEmpty { return try readHead(fieldsEnd: line.lowerBound) }
            guard entries.count < limits.fieldCount else { throw .tooManyFields }
            entries.append(try FieldLine.parse(buffer.span, line, base: start))
        }
        return .needMore
    }

    private mutating func readHead(fieldsEnd: Int) throws(ProtocolError) -> Event? {
        var fields = Fields(bytes: Array(buffer[start..<fieldsEnd]), entries: entries)
        entries = []
        start = lineStart
        let head = try RequestHead(checking: fields, version: pending?.version ?? .http11, limits: limits)
        if let authority { fields.set("Host", authority) }
        pending?.fields = fields
        continueIsDue = head.expectsContinue
        switch head.framing {
        case .none: return completed()
        case .length(let count): stage = .length(count)
        case .chunked:
            chunks = ChunkedDecoder()
            stage = .chunked
        }
        return nil
    }

    /// A line from `lineStart`, which moves past it. Nil when its end has not come yet.
    private mutating func nextLine(limit: Int, tooLong: ProtocolError) throws(ProtocolError) -> Range<Int>? {
        switch try LineScanner.scan(buffer.span, from: scanned, limit: limit, tooLong: tooLong) {
        case .needMore(let index):
            scanned = index
            return nil
        case .line(let end):
            defer {
                lineStart = end + 2
                scanned = lineStart
            }
            return lineStart..<end
        }
    }

    /// RFC 9110 §10.1.1: `100 Continue` may be left out when content has come already.
    private mutating func waitForContent() -> Event {
        guard continueIsDue, unreadCount == 0 else { return .needMore }
        continueIsDue = false
        return .expectContinue
    }

    private mutating func completed() -> Event {
        pending?.body = body
        body = []
        stage = .requestLine
        emptyLines = 0
        releaseBufferWhenDone()
        lineStart = start
        scanned = start
        return .request
    }

    /// An idle connection keeps little.
    private mutating func releaseBufferWhenDone() {
        guard start == buffer.count else { return }
        buffer.removeAll(keepingCapacity: buffer.capacity <= Self.idleCapacity)
        start = 0
        lineStart = 0
        scanned = 0
    }
}
