import HTTP
import Testing

@Suite struct ExpectContinueTests {
    /// An event with what it announced.
    private enum Event: Equatable {
        case needMore
        case expectContinue
        case request(Request)
        case failed(ProtocolError)
    }

    private func events(_ pieces: String...) -> [Event] {
        var parser = RequestParser()
        return pieces.flatMap { piece in
            parser.append(piece.bytes)
            var events: [Event] = []
            repeat { events.append(next(&parser)) } while events.last != .needMore && events.count < 10
            return events
        }
    }

    private func next(_ parser: inout RequestParser) -> Event {
        switch parser.next() {
        case .needMore: return .needMore
        case .expectContinue: return .expectContinue
        case .failed(let error): return .failed(error)
        case .request:
            var request = parser.takeRequest()
            request.fields = [:]
            return .request(request)
        }
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
        let request = Event.request(Request(.post, "/"))
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
