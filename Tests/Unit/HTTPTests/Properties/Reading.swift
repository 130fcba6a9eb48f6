import HTTP

/// What a parser made of pieces of bytes, and whether it kept its word while it did.
struct Reading: CustomStringConvertible {
    /// The requests, and how many bytes were done with after each.
    private(set) var requests: [(request: Request, end: Int)] = []
    private(set) var failure: ProtocolError?
    /// What was left at the end.
    private(set) var unread = 0
    /// The first promise of the parser that it broke.
    private(set) var violation: String?

    private var appended = 0
    private var continues = 0

    /// Takes all events after each piece, as a connection does.
    ///
    /// - Parameters:
    ///   - range: which bytes; the others might not be there.
    ///   - cuts: where pieces end, before the last one.
    init(
        of bytes: [UInt8], _ range: Range<Int>? = nil, cutAt cuts: some Sequence<Int> = EmptyCollection(),
        limits: Limits
    ) {
        var parser = RequestParser(limits: limits)
        let bound = max(
            limits.requestLine, limits.fieldBytes, limits.body, limits.trailerBytes,
            limits.chunkExtensionBytes + 16)
        let range = range ?? bytes.indices
        var start = range.lowerBound
        for cut in cuts {
            feed(&parser, bytes, start..<cut, bound)
            start = cut
        }
        feed(&parser, bytes, start..<range.upperBound, bound)
        unread = parser.unreadCount
    }

    private mutating func feed(_ parser: inout RequestParser, _ bytes: [UInt8], _ piece: Range<Int>, _ bound: Int) {
        parser.append(bytes.span.extracting(piece))
        appended += piece.count
        take(&parser)
        // What is kept between two reads: lines or a body within their limit, and two line ends at most.
        if violation == nil, failure == nil, parser.unreadCount > bound + 4 {
            violation = "\(parser.unreadCount) bytes unread after \(appended)"
        }
    }

    private mutating func take(_ parser: inout RequestParser) {
        while true {
            switch parser.next() {
            case .needMore:
                if failure != nil { violation = violation ?? "needMore after a failure" }
                return
            case .expectContinue:
                continues += 1
                if failure != nil || continues > 1 || parser.phase != .body || parser.unreadCount != 0 {
                    violation = violation ?? "expectContinue where nobody waits"
                }
            case .request:
                let request = parser.takeRequest()
                if failure != nil { violation = violation ?? "a request after a failure" }
                if continues > 0, !request.fields.contains("expect") { violation = "expectContinue unasked" }
                continues = 0
                requests.append((request, appended - parser.unreadCount))
            case .failed(let error):
                if failure != nil, failure != error { violation = violation ?? "another failure after \(error)" }
                if parser.unreadCount != 0 || parser.phase != .idle { violation = "bytes are kept after \(error)" }
                let isFirst = failure == nil
                failure = error
                if isFirst { continue } else { return }
            }
        }
    }

    /// Whether both found the same requests, in the same places, and the same end.
    func says(_ other: Reading) -> Bool {
        failure == other.failure && unread == other.unread && requests.count == other.requests.count
            && zip(requests, other.requests).allSatisfy { $0.end == $1.end && $0.request == $1.request }
    }

    var description: String {
        requests.map { "\($0.request.method) \($0.request.target.path) to \($0.end)" }.joined(separator: ", ")
            + " then " + (failure?.code ?? "\(unread) unread")
    }
}

/// A request as `method SP target SP version`, its fields, and a `Content-Length`, whatever framed it before.
enum CanonicalRequest {
    /// Nil when a value cannot be told byte by byte: one that is not UTF-8.
    static func bytes(of request: Request) -> [UInt8]? {
        var target = request.target.path + (request.target.query.map { "?" + $0 } ?? "")
        if request.target.form == .absolute { target = "http://" + (request.authority ?? "") + target }
        var bytes = Array("\(request.method) \(target) \(request.version.rawValue)\r\n".utf8)
        for (name, value) in request.fields where !isFraming(name) && !isContinue(name) {
            // What it stands for cannot be told any more.
            if value.unicodeScalars.contains("\u{FFFD}") { return nil }
            bytes += Array("\(name): \(value)".utf8)
            bytes += [0x0D, 0x0A]
        }
        return bytes + Array("Content-Length: \(request.body.count)\r\n\r\n".utf8) + request.body
    }

    /// Equal but for what frames them.
    static func isSame(_ one: Request, _ other: Request) -> Bool {
        var (one, other) = (one, other)
        let names: [StaticString] = ["Content-Length", "Transfer-Encoding", "Expect"]
        for name in names {
            one.fields.remove(name)
            other.fields.remove(name)
        }
        return one == other
    }

    private static func isFraming(_ name: String) -> Bool {
        ["content-length", "transfer-encoding"].contains(name.lowercased())
    }

    private static func isContinue(_ name: String) -> Bool { name.lowercased() == "expect" }
}
