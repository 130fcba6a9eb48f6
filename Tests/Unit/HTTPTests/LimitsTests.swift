import HTTP
import Testing

/// Each limit accepts its own value and refuses one more.
@Suite struct LimitsTests {
    private func expect(
        _ change: (inout Limits) -> Void, accepts accepted: String, refuses refused: String, _ error: ProtocolError,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        var limits = Limits()
        change(&limits)
        for read in [{ parse([$0[...]], limits: limits) }, { byteByByte($0, limits: limits) }] {
            let outcome: Outcome = read(accepted.bytes)
            #expect(outcome.failure == nil, sourceLocation: sourceLocation)
            #expect(outcome.requests.count == 1, sourceLocation: sourceLocation)
            #expect(read(refused.bytes).failure == error, sourceLocation: sourceLocation)
        }
    }

    @Test func requestLine() {
        expect(
            { $0.requestLine = 16 }, accepts: "GET /ab HTTP/1.0\r\n\r\n", refuses: "GET /abc HTTP/1.0\r\n\r\n",
            .requestLineTooLong)
    }

    @Test func method() {
        expect({ $0.method = 3 }, accepts: "GET / HTTP/1.0\r\n\r\n", refuses: "HEAD / HTTP/1.0\r\n\r\n", .methodTooLong)
    }

    @Test func fieldCount() {
        expect(
            { $0.fieldCount = 2 }, accepts: "GET / HTTP/1.0\r\na:\r\nb:\r\n\r\n",
            refuses: "GET / HTTP/1.0\r\na:\r\nb:\r\nc:\r\n\r\n", .tooManyFields)
    }

    @Test func fieldBytes() {
        expect(
            { $0.fieldBytes = 9 }, accepts: "GET / HTTP/1.0\r\nab:c\r\nd:e\r\n\r\n",
            refuses: "GET / HTTP/1.0\r\nab:c\r\nd:ef\r\n\r\n", .fieldsTooLarge)
        // The line end of the last field alone passes the limit: what follows can only be the end.
        expect(
            { $0.fieldBytes = 9 }, accepts: "GET / HTTP/1.0\r\nabcdefg:h\r\n\r\n",
            refuses: "GET / HTTP/1.0\r\nabcdefg:h\r\ni:\r\n\r\n", .fieldsTooLarge)
    }

    @Test func bodyWithLength() {
        let head = "PUT / HTTP/1.0\r\nContent-Length: "
        expect({ $0.body = 2 }, accepts: head + "2\r\n\r\nab", refuses: head + "3\r\n\r\n", .bodyTooLarge)
    }

    private let chunked = "PUT / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"

    @Test func bodyInChunks() {
        expect(
            { $0.body = 2 }, accepts: chunked + "1\r\na\r\n1\r\nb\r\n0\r\n\r\n", refuses: chunked + "1\r\na\r\n2\r\n",
            .bodyTooLarge)
    }

    @Test func chunkExtensionBytes() {
        expect(
            { $0.chunkExtensionBytes = 4 }, accepts: chunked + "1;a\r\na\r\n0;b\r\n\r\n",
            refuses: chunked + "1;a\r\na\r\n0;bc\r\n\r\n", .chunkExtensionsTooLong)
    }

    @Test func trailerCount() {
        expect(
            { $0.trailerCount = 1 }, accepts: chunked + "0\r\na:\r\n\r\n", refuses: chunked + "0\r\na:\r\nb:\r\n\r\n",
            .tooManyFields)
    }

    @Test func trailerBytes() {
        expect(
            { $0.trailerBytes = 7 }, accepts: chunked + "0\r\na:b\r\nc:\r\n\r\n",
            refuses: chunked + "0\r\na:b\r\nc:d\r\n\r\n", .fieldsTooLarge)
    }

    @Test func leadingEmptyLines() {
        expect(
            { $0.leadingEmptyLines = 0 }, accepts: "GET / HTTP/1.0\r\n\r\n", refuses: "\r\nGET / HTTP/1.0\r\n\r\n",
            .leadingEmptyLines)
    }

    @Test func defaultsOfTheHead() {
        let name = String(repeating: "n", count: 16380)
        #expect(parse("GET / HTTP/1.0\r\n\(name):abc\r\n\r\n").requests.count == 1)
        #expect(parse("GET / HTTP/1.0\r\n\(name):abcd\r\n\r\n").failure == .fieldsTooLarge)
        let path = String(repeating: "p", count: 8192 - 14)
        #expect(parse("GET /\(path) HTTP/1.0\r\n\r\n").requests.count == 1)
        #expect(parse("GET /\(path)p HTTP/1.0\r\n\r\n").failure == .requestLineTooLong)
        #expect(parse("GET / HTTP/1.0\r\n" + String(repeating: "a:\r\n", count: 100) + "\r\n").requests.count == 1)
        #expect(
            parse("GET / HTTP/1.0\r\n" + String(repeating: "a:\r\n", count: 101) + "\r\n").failure == .tooManyFields)
    }
}
