/// Parses the bytes of one connection into requests.
///
/// Call `append` with the bytes, then `next` until it returns `needMore`. The events depend on the bytes only, not on
/// how they were split into reads. `expectContinue` is the exception: it is omitted if the content has begun to arrive.
public struct RequestParser: Sendable {
    /// The result of parsing the bytes received so far.
    public enum Event: Equatable, Sendable {
        /// More bytes are needed.
        case needMore
        /// A head with content to follow is complete, and the client waits for `100 Continue`. At most once per
        /// request.
        case expectContinue
        /// A request is complete; `takeRequest` returns it.
        case request
        /// The request is refused. Answer with `status` and close the connection; every later event is this one.
        case failed(ProtocolError)
    }

    /// The position in the message, which selects the deadline of the connection.
    public enum Phase: Hashable, Sendable {
        /// Between two requests, with no byte of the next one.
        case idle
        /// Within a request line or the fields.
        case head
        /// The head is complete and the content is not.
        case body
    }

    private enum Stage {
        case requestLine
        case fields
        case length(Int)
        case chunked
        case failed(ProtocolError)
    }

    /// The memory in bytes that an idle connection may keep. Most requests fit, and ten thousand connections stay
    /// small.
    private static let idleCapacity = 2048
    /// Capacity for the fields of most requests, so that collecting them allocates once.
    private static let expectedFieldCount = 16

    /// The limits of this parser.
    public let limits: Limits
    /// True if the connection is secured, or comes from a gateway that is trusted to be. Only then may a target use
    /// `https` (RFC 9110 §7.4); otherwise the request is refused with 421.
    public var isSecure: Bool
    /// True if the current, last or refused request is `HEAD`. The response to it has no content, whatever its fields
    /// say (RFC 9110 §9.3.2). False before a request line is complete.
    public private(set) var isHead = false

    /// The received bytes. Those before `start` are consumed.
    private var buffer: [UInt8] = []
    private var start = 0
    /// The start of the current line, and the index up to which it was scanned.
    private var lineStart = 0
    private var scanned = 0

    private var stage = Stage.requestLine
    private var emptyLines = 0
    private var entries: [Fields.Entry] = []
    /// The request that is incomplete, or that `takeRequest` has not returned yet.
    private var pending: Request?
    /// The authority of an absolute target, which replaces the `Host` field (RFC 9112 §3.2.2).
    private var authority: String?
    private var continueIsDue = false
    private var chunks = ChunkedDecoder()
    private var body: [UInt8] = []

    /// Creates a parser without input.
    public init(limits: Limits = Limits(), isSecure: Bool = false) {
        self.limits = limits
        self.isSecure = isSecure
    }

    /// The position in the message; `idle` after a failure, because no more bytes are expected.
    public var phase: Phase {
        switch stage {
        case .requestLine: unreadCount == 0 ? .idle : .head
        case .fields: .head
        case .length, .chunked: .body
        case .failed: .idle
        }
    }

    /// The number of appended bytes that are not parsed yet. The connection limits its reading by it.
    public var unreadCount: Int { buffer.count - start }

    /// The memory that the unfinished request takes, in bytes; at most 2 KiB when idle.
    public var heldBytes: Int {
        buffer.capacity + body.capacity + entries.capacity * MemoryLayout<Fields.Entry>.stride
            + (pending?.heldBytes ?? 0)
    }

    /// The number of received bytes of the content, for a minimum rate; 0 outside of content.
    public var contentCount: Int {
        switch stage {
        case .length: unreadCount
        case .chunked: body.count + unreadCount
        case .requestLine, .fields, .failed: 0
        }
    }
}

// Input.
extension RequestParser {
    /// Appends received bytes.
    public mutating func append(_ bytes: [UInt8]) {
        guard prepareToAppend() else { return }
        buffer.append(contentsOf: bytes)
    }

    /// Appends received bytes; they are copied.
    public mutating func append(_ bytes: Span<UInt8>) {
        guard prepareToAppend() else { return }
        unsafe bytes.withUnsafeBufferPointer { unsafe buffer.append(contentsOf: $0) }
    }

    /// Appends received bytes; they are copied.
    public mutating func append(_ bytes: UnsafeRawBufferPointer) {
        guard prepareToAppend() else { return }
        unsafe buffer.append(contentsOf: bytes)
    }

    /// Removes the consumed bytes once they are half of the buffer, so that each byte moves at most once on average.
    /// Returns false after a failure, because no more bytes are parsed then.
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

// Output.
extension RequestParser {
    /// Returns the next event. Call it again until it returns `needMore` or `failed`.
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

    /// Returns the request that `next` has just announced. Call it once per request.
    public mutating func takeRequest() -> Request {
        guard let request = pending.take() else { preconditionFailure("no request was announced") }
        return request
    }

    /// Takes one step. Returns nil if another step can follow at once.
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

    /// Reads field lines up to the empty line that ends the head. `start` stays at the first field line until then.
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

    /// Returns the line at `lineStart`, which moves past it; nil if the line has not ended yet.
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

    /// Returns `expectContinue` unless content has arrived already: then `100 Continue` may be omitted (RFC 9110
    /// §10.1.1).
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

    /// Releases the buffer if it is consumed, so that an idle connection keeps little memory.
    private mutating func releaseBufferWhenDone() {
        guard start == buffer.count else { return }
        buffer.removeAll(keepingCapacity: buffer.capacity <= Self.idleCapacity)
        start = 0
        lineStart = 0
        scanned = 0
    }
}
