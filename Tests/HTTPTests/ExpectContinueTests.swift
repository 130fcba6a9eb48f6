import HTTP
import Testing

@Suite struct ExpectContinueTests {
    private func events(_ pieces: String...) -> [RequestParser.Event] {
        var parser = RequestParser()
        return pieces.flatMap { piece in
            parser.append(piece.bytes)
            var events: [RequestParser.Event] = []
            repeat { events.append(parser.next()) } while events.last != .needMore && events.count < 10
            return events.map(withoutFields)
        }
    }

    private func withoutFields(_ event: RequestParser.Event) -> RequestParser.Event {
        guard case .request(var request) = event else { return event }
        request.fields = [:]
        return .request(request)
    }

    private let head = "POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-Continue\r\n"

    @Test func asksOnceWhenTheSenderWaits() {
        #expect(
            events(head + "Content-Length: 2\r\n\r\n", "x", "y")
                == [.expectContinue, .needMore, .needMore, .request(Request(.post, "/", body: "xy".bytes)), .needMore])
        #expect(
            events(head + "Transfer-Encoding: chunked\r\n\r\n", "1", "\r\nx\r\n0\r\n\r\n")
                == [.expectContinue, .needMore, .needMore, .request(Request(.post, "/", body: "x".bytes)), .needMore])
    }

    @Test func asksNotWhenContentHasCome() {
        #expect(events(head + "Content-Length: 2\r\n\r\nx") == [.needMore])
        #expect(events(head + "Transfer-Encoding: chunked\r\n\r\n1\r\n", "") == [.needMore, .needMore])
        #expect(
            events(head + "Content-Length: 1\r\n\r\nx") == [.request(Request(.post, "/", body: "x".bytes)), .needMore])
    }

    @Test func asksNotWithoutContent() {
        let request = RequestParser.Event.request(Request(.post, "/"))
        #expect(events(head + "\r\n") == [request, .needMore])
        #expect(events(head + "Content-Length: 0\r\n\r\n") == [request, .needMore])
    }

    @Test func asksNotInHTTP10() {
        #expect(events("POST / HTTP/1.0\r\nExpect: 100-continue\r\nContent-Length: 1\r\n\r\n") == [.needMore])
    }

    @Test func refusesTooMuchBeforeItIsSent() {
        #expect(parse(head + "Content-Length: 65537\r\n\r\n").failure == .bodyTooLarge)
    }
}
