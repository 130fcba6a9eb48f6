import HTTP
import Testing

/// Goal: each clause of RFC 9110, 9112 and 3986 about requests holds, however the bytes arrive.
/// Method: tables of inputs; each is fed whole, byte by byte, cut in two at every place, and as every prefix.
@Suite struct RequestParserTests {
    @Test(arguments: RefusedInput.all)
    func refuses(_ row: RefusedInput) {
        #expect(parse(row.input) == Outcome(failure: row.error))
    }

    @Test(arguments: AcceptedInput.all)
    func accepts(_ row: AcceptedInput) {
        #expect(parse(row.input) == Outcome(requests: row.requests))
    }

    @Test(arguments: NamedInput.all)
    func readsTheSameHoweverTheBytesAreCut(_ named: NamedInput) {
        let bytes = named.input.bytes
        let whole = parse([bytes[...]])
        #expect(byteByByte(bytes) == whole)
        guard bytes.count < 1000 else { return }
        for cut in bytes.indices {
            #expect(parse([bytes[..<cut], bytes[cut...]]) == whole, "cut at \(cut)")
        }
    }

    @Test(arguments: NamedInput.all)
    func readsNoPrefixAsSomethingElse(_ named: NamedInput) {
        let bytes = named.input.bytes
        guard bytes.count < 1000 else { return }
        let whole = parse([bytes[...]])
        for count in bytes.indices {
            let prefix = parse([bytes[..<count]])
            #expect(whole.requests.starts(with: prefix.requests), "prefix of \(count)")
            #expect(prefix.failure == nil || prefix == whole, "prefix of \(count)")
        }
        // A request that is complete with its last byte is not complete before.
        if whole.failure == nil { #expect(parse([bytes.dropLast()]).requests.count == whole.requests.count - 1) }
    }

    @Test func everyByteAnywhereReadsTheSameHoweverCut() {
        let bases = [
            "POST /a%20b?c=d HTTP/1.1\r\nHost: a:1\r\nTransfer-Encoding: chunked\r\n\r\n2;a=b\r\nxy\r\n0\r\nT: u\r\n\r\n",
            "PUT http://a/ HTTP/1.0\r\nHost: [::1]\r\nContent-Length: 2\r\n\r\nxy",
        ]
        for base in bases.map(\.bytes) {
            for position in base.indices {
                for byte in [UInt8](0...0x80) + [0xFF] {
                    var changed = base
                    changed[position] = byte
                    let whole = parse([changed[...]])
                    if byteByByte(changed) != whole {
                        Issue.record("byte \(byte) at \(position)")
                    }
                }
            }
        }
    }

    @Test func staysFailed() {
        var parser = RequestParser()
        parser.append("GET / HTTP/1.1\n".bytes)
        #expect(parser.next() == .failed(.bareLineFeed))
        parser.append("GET / HTTP/1.1\r\nHost: a\r\n\r\n".bytes)
        #expect(parser.next() == .failed(.bareLineFeed))
        #expect(parser.unreadCount == 0)
    }

    @Test func answersWhatCameBeforeAFailure() {
        let outcome = parse("GET /1 HTTP/1.1\r\nHost: a\r\n\r\nGET /2\r\n")
        #expect(outcome.requests.map(\.target.path) == ["/1"])
        #expect(outcome.failure == .malformedRequestLine)
    }

    @Test func tellsThePhase() {
        var parser = RequestParser()
        #expect(parser.phase == .idle)
        parser.append("P".bytes)
        #expect(parser.phase == .head)
        #expect(parser.next() == .needMore)
        parser.append("OST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n".bytes)
        #expect(parser.next() == .needMore)
        #expect(parser.phase == .head)
        parser.append("\r\nx".bytes)
        #expect(parser.next() == .needMore)
        #expect(parser.phase == .body)
        #expect(parser.unreadCount == 1)
        parser.append("yG".bytes)
        guard case .request = parser.next() else { return #expect(Bool(false), "no request") }
        #expect(parser.phase == .head)
        #expect(parser.unreadCount == 1)
    }

    @Test func takesBytesInEachShape() {
        let bytes = "GET / HTTP/1.1\r\nHost: a\r\n\r\n".bytes
        var parser = RequestParser()
        parser.append(bytes.span)
        bytes.withUnsafeBytes { parser.append($0) }
        for _ in 1...2 {
            #expect(parser.next() == .request)
            #expect(parser.takeRequest() == Request(.get, "/", fields: ["Host": "a"]))
        }
        #expect(parser.next() == .needMore)
    }
}
