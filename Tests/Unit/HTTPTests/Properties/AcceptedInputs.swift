import HTTP
import Testing

/// An input that is one or more complete requests, with the clause that says so and what must be read.
struct AcceptedInput: CustomTestStringConvertible {
    let clause: String
    let input: String
    let requests: [Request]

    init(_ clause: String, _ input: String, _ requests: Request...) {
        self.clause = clause
        self.input = input
        self.requests = requests
    }

    var testDescription: String { "\(clause): \(input.prefix(60).debugDescription)" }

    static let all = heads + hosts.map(withHost) + bodies
}

extension AcceptedInput {
    static let host: Fields = ["Host": "a"]

    static let heads = [
        AcceptedInput("9112 3 a request", "GET / HTTP/1.1\r\nHost: a\r\n\r\n", Request(.get, "/", fields: host)),
        AcceptedInput(
            "9112 2.2 an empty line first", "\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n", Request(.get, "/", fields: host)),
        AcceptedInput(
            "9112 2.2 an empty line before each",
            "\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n",
            Request(.get, "/", fields: host), Request(.get, "/", fields: host)),
        AcceptedInput(
            "9110 9.1 another method, in its case", "brew! / HTTP/1.1\r\nHost: a\r\n\r\n",
            Request(Method(rawValue: "brew!"), "/", fields: host)),
        AcceptedInput(
            "9112 3 a method of 32", "\(String(repeating: "A", count: 32)) / HTTP/1.1\r\nHost: a\r\n\r\n",
            Request(Method(rawValue: String(repeating: "A", count: 32)), "/", fields: host)),
        AcceptedInput(
            "9112 3.2.1 path and query", "GET /a/%2F;b=c,d?e=%00&f=/?:@!$'()*+ HTTP/1.1\r\nHost: a\r\n\r\n",
            Request(.get, "/a/%2F;b=c,d?e=%00&f=/?:@!$'()*+", fields: host)),
        AcceptedInput(
            "9112 3.2.1 an empty query", "GET /a? HTTP/1.1\r\nHost: a\r\n\r\n",
            Request(method: .get, target: RequestTarget(path: "/a", query: ""), fields: host)),
        AcceptedInput(
            "9112 3.2.1 two slashes", "GET //b/c HTTP/1.1\r\nHost: a\r\n\r\n", Request(.get, "//b/c", fields: host)),
        AcceptedInput(
            "9112 3.2.2 absolute replaces Host", "GET http://b:8080/c?d HTTP/1.1\r\nHost: a\r\nX: y\r\n\r\n",
            Request(
                method: .get, target: RequestTarget(form: .absolute, path: "/c", query: "d"),
                fields: ["X": "y", "Host": "b:8080"])),
        AcceptedInput(
            "9110 4.2.3 an empty path, the scheme in any case", "GET HTTP://b HTTP/1.1\r\nHost: a\r\n\r\n",
            Request(
                method: .get, target: RequestTarget(form: .absolute, path: "/", query: nil), fields: ["Host": "b"])),
        AcceptedInput(
            "9110 4.2.3 an empty path and a query", "GET http://b?c HTTP/1.0\r\n\r\n",
            Request(
                method: .get, target: RequestTarget(form: .absolute, path: "/", query: "c"), version: .http10,
                fields: ["Host": "b"])),
        AcceptedInput(
            "9112 3.2.4 asterisk", "OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n",
            Request(method: .options, target: .asterisk, fields: host)),
        AcceptedInput(
            "9112 3.2 HTTP/1.0 without Host", "GET / HTTP/1.0\r\n\r\n",
            Request(method: .get, target: RequestTarget(path: "/"), version: .http10)),
        AcceptedInput(
            "9110 2.5 a higher minor version", "GET / HTTP/1.2\r\nHost: a\r\n\r\n", Request(.get, "/", fields: host)),
        AcceptedInput(
            "9112 5.1 blanks around a value", "GET / HTTP/1.1\r\nHost:\t a \t\r\nX:\r\nY: \t \r\n\r\n",
            Request(.get, "/", fields: ["Host": "a", "X": "", "Y": ""])),
        AcceptedInput(
            "9110 5.5 tabs and blanks within a value", "GET / HTTP/1.1\r\nHost: a\r\nX: b\tc  d:e\r\n\r\n",
            Request(.get, "/", fields: ["Host": "a", "X": "b\tc  d:e"])),
        AcceptedInput(
            "9110 5.5 obs-text in a value", "GET / HTTP/1.1\r\nHost: a\r\nX: \u{C3}\u{A9}\r\n\r\n",
            Request(.get, "/", fields: ["Host": "a", "X": "\u{E9}"])),
        AcceptedInput(
            "9110 5.6.2 every character of a token",
            "GET / HTTP/1.1\r\nHost: a\r\n!#$%&'*+-.^_`|~09azAZ: b\r\n\r\n",
            Request(.get, "/", fields: ["Host": "a", "!#$%&'*+-.^_`|~09azAZ": "b"])),
        AcceptedInput(
            "9110 10.1.1 HTTP/1.0 has no expectations", "GET / HTTP/1.0\r\nExpect: x\r\n\r\n",
            Request(
                method: .get, target: RequestTarget(path: "/"), version: .http10, fields: ["Expect": "x"])),
        AcceptedInput(
            "9110 7.8 Upgrade is ignored", "GET / HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: h2c\r\n\r\n",
            Request(.get, "/", fields: ["Host": "a", "Connection": "upgrade", "Upgrade": "h2c"])),
    ]

    static let hosts = [
        "a", "a.example", "a.example.", "a:80", "a:", "a:65535", "127.0.0.1:8080", "999.1.1.1", "a_b", "a~b", "%41",
        "a,b",
        "[::]", "[::1]", "[::1]:8080", "[1::]", "[1:2:3:4:5:6:7:8]", "[1::8]", "[1:2:3:4:5:6:7::]", "[::ffff:1.2.3.4]",
        "[1:2:3:4:5:6:1.2.3.4]", "[fE80::ABcd]", "[v1.a:b]", "[vF.!]",
    ]

    static func withHost(_ host: String) -> AcceptedInput {
        AcceptedInput(
            "9112 3.2 Host", "GET / HTTP/1.1\r\nHost: \(host)\r\n\r\n", Request(.get, "/", fields: ["Host": host]))
    }

    static let bodies =
        [
            AcceptedInput(
                "9112 6.2 a length", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n\r\n\0\u{FF}!",
                Request(
                    .post, "/", fields: ["Host": "a", "Content-Length": "5"], body: [0x0D, 0x0A, 0, 0xFF, 0x21])),
            AcceptedInput(
                "9112 6.2 no content", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n",
                Request(.post, "/", fields: ["Host": "a", "Content-Length": "0"])),
            AcceptedInput(
                "9110 8.6 leading zeros",
                "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0000000000000000000001\r\n\r\nb",
                Request(.post, "/", fields: ["Host": "a", "Content-Length": "0000000000000000000001"], body: [0x62])),
            AcceptedInput(
                "9112 6.3 neither", "POST / HTTP/1.1\r\nHost: a\r\n\r\n", Request(.post, "/", fields: host)),
            AcceptedInput(
                "9112 9.3.2 pipelining",
                "POST /1 HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\nb\r\nGET /2 HTTP/1.1\r\nHost: a\r\n\r\n"
                    + "GET /3 HTTP/1.1\r\nHost: a\r\n\r\n",
                Request(.post, "/1", fields: ["Host": "a", "Content-Length": "1"], body: [0x62]),
                Request(.get, "/2", fields: host), Request(.get, "/3", fields: host)),
            AcceptedInput(
                "9112 7.1 chunked twice, pipelined",
                "POST /1 HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nb\r\n0\r\nX: y\r\n\r\n"
                    + "POST /2 HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
                Request(.post, "/1", fields: ["Host": "a", "Transfer-Encoding": "chunked"], body: [0x62]),
                Request(.post, "/2", fields: ["Host": "a", "Transfer-Encoding": "chunked"])),
        ] + chunked

    static let chunked = [
        ("9112 7.1 chunks", "3\r\nabc\r\n002\r\n\r\n\r\n0\r\n\r\n", "abc\r\n"),
        ("9112 7.1 hexadecimal, both cases", "a\r\n0123456789\r\nA\r\n0123456789\r\n0\r\n\r\n", "01234567890123456789"),
        ("9112 7.1 sixteen digits", "0000000000000001\r\na\r\n0000000000000000\r\n\r\n", "a"),
        ("9112 7.1.1 extensions", "1;a\r\na\r\n1;b=c;d=\"e;\\\" f\"\r\nb\r\n0;g\r\n\r\n", "ab"),
        ("9112 7.1.1 bad blanks", "1 ;\ta = b ; c\r\na\r\n0 ; d\r\n\r\n", "a"),
        ("9112 7.1.2 trailers are dropped", "1\r\na\r\n0\r\nX: y\r\nContent-Length: 9\r\nHost: b\r\n\r\n", "a"),
    ].map { (clause: String, input: String, body: String) in
        AcceptedInput(
            clause, "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: Chunked\r\n\r\n\(input)",
            Request(.post, "/", fields: ["Host": "a", "Transfer-Encoding": "Chunked"], body: body.bytes))
    }
}
