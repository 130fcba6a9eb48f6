import HTTP
import Testing

@Suite struct ResponseSerializerTests {
    private func written(
        _ response: Response, _ method: Method? = .get, _ persistence: ResponseSerializer.Persistence = .keepAlive
    ) -> String {
        var output: [UInt8] = []
        ResponseSerializer.append(
            response, answering: method, persistence: persistence,
            date: HTTPDate.imfFixdate(secondsSinceEpoch: 784_111_777), to: &output)
        return String(decoding: output, as: UTF8.self)
    }

    private let date = "Date: Sun, 06 Nov 1994 08:49:37 GMT\r\n"

    @Test func writesAResponse() {
        #expect(
            written(Response(.ok, text: "hello"))
                == "HTTP/1.1 200 OK\r\n\(date)Content-Type: text/plain; charset=utf-8\r\nContent-Length: 5\r\n\r\nhello"
        )
        #expect(
            written(Response(status: .notFound), .post)
                == "HTTP/1.1 404 Not Found\r\n\(date)Content-Length: 0\r\n\r\n")
        #expect(
            written(Response(.ok, "a/b", [UInt8](repeating: 0x61, count: 1234))).contains("Content-Length: 1234\r\n"))
    }

    @Test func answersHEADWithTheLengthAndWithoutContent() {
        let head = written(Response(.ok, text: "hello"), .head)
        #expect(head.hasSuffix("Content-Length: 5\r\n\r\n"))
    }

    @Test(arguments: [Status.noContent, .notModified, .continue])
    func writesNoContentWhereNoneMayBe(_ status: Status) {
        let text = written(Response(status: status, body: [0x61]), .get)
        #expect(text == "HTTP/1.1 \(status)\r\n\(date)\r\n")
    }

    @Test func saysWhatBecomesOfTheConnection() {
        let response = Response(status: .ok)
        #expect(!written(response).contains("Connection"))
        #expect(written(response, .get, .close).contains("\r\nConnection: close\r\n"))
        #expect(written(response, .get, .explicitKeepAlive).contains("\r\nConnection: keep-alive\r\n"))
        #expect(written(response, nil, .close).hasSuffix("Content-Length: 0\r\n\r\n"))
    }

    @Test func letsNoHandlerFrameOrSplit() {
        var response = Response(.ok, text: "x")
        response.fields.append("content-length", "99")
        response.fields.append("Transfer-Encoding", "chunked")
        response.fields.append("CONNECTION", "close")
        response.fields.append("date", "never")
        response.fields.append("Location", "/\r\nSet-Cookie: a=b\r\n\r\nHTTP/1.1 200 OK")
        #expect(
            written(response)
                == "HTTP/1.1 200 OK\r\n\(date)Content-Type: text/plain; charset=utf-8\r\n"
                + "Location: /  Set-Cookie: a=b    HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx")
    }

    /// Fields that were made here, that lost a line, and that were read from elsewhere.
    @Test func writesFieldsHoweverTheyCameAbout() throws {
        let expected = "HTTP/1.1 200 OK\r\n\(date)A: 1\r\nD: 3\r\nContent-Length: 0\r\n\r\n"
        var fields: Fields = ["A": "1", "b-c": "2"]
        fields.append("D", constant: "3")
        #expect(
            written(Response(status: .ok, fields: fields)) == expected.replacing("D: 3", with: "b-c: 2\r\nD: 3"))
        fields.remove("B-C")
        #expect(written(Response(status: .ok, fields: fields)) == expected)
        let read = try Fields(parsing: Array("A:1 \r\nD: \t3\r\nconnection: x\r\n".utf8))
        #expect(written(Response(status: .ok, fields: read)) == expected)
    }

    @Test(arguments: [0, 9, 10, 99, 100, 12_345, 1_000_000])
    func writesLengths(_ count: Int) {
        let text = written(Response(status: .ok, body: [UInt8](repeating: 0x61, count: count)))
        #expect(text.contains("\r\nContent-Length: \(count)\r\n\r\n"))
    }

    @Test func appendsToWhatIsThere() {
        var output = ResponseSerializer.continue100
        ResponseSerializer.append(
            Response(status: .created), answering: .put, persistence: .keepAlive, date: [], to: &output)
        #expect(
            String(decoding: output, as: UTF8.self).hasPrefix("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 201 Created\r\n"))
    }

    @Test func refusesAStatusThatIsNone() async {
        await #expect(processExitsWith: .failure) { _ = Status(code: 99, reason: "") }
        await #expect(processExitsWith: .failure) { _ = Status(code: 600, reason: "") }
        await #expect(processExitsWith: .failure) { _ = Status(code: 200, reason: "a\r\nb") }
    }
}
