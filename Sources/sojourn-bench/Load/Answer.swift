/// The positions of the parts of an HTTP response in the received bytes. It reads the responses of one known server,
/// for a load generator that must be cheap; it is no general parser.
struct Answer {
    let status: Int
    let body: Range<Int>

    /// Reads the response at the start of `bytes`; returns nil while it is incomplete.
    init?(_ bytes: [UInt8]) throws {
        let span = bytes.span
        guard let headEnd = span.firstIndex(of: Self.emptyLine, in: 0..<span.count) else { return nil }
        guard headEnd > 12, let status = span.number(in: 9..<12) else { throw Failure("an answer without a status") }
        guard let name = span.firstIndex(of: Self.contentLength, in: 0..<headEnd) else {
            guard status == 204 else { throw Failure("an answer without Content-Length") }
            self.status = status
            body = headEnd + 4..<headEnd + 4
            return
        }
        let start = name + Self.contentLength.count
        var end = start
        while end < headEnd, span[end] != 0x0D { end += 1 }
        guard let length = span.number(in: start..<end) else { throw Failure("an answer of unknown length") }
        guard bytes.count >= headEnd + 4 + length else { return nil }
        self.status = status
        body = headEnd + 4..<headEnd + 4 + length
    }

    private static let emptyLine = Array("\r\n\r\n".utf8)
    private static let contentLength = Array("\r\nContent-Length: ".utf8)
}
