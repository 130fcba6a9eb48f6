import HTTP
import Testing

/// An input that has to be refused, with the clause that says so. Every one of them is refused at its last byte or before.
struct RefusedInput: CustomTestStringConvertible {
    let clause: String
    let input: String
    let error: ProtocolError

    init(_ clause: String, _ input: String, _ error: ProtocolError) {
        self.clause = clause
        self.input = input
        self.error = error
    }

    var testDescription: String { "\(clause): \(input.prefix(60).debugDescription)" }

    static let all = lines + requestLines + targets + fields + hosts + framing + chunks
}

extension RefusedInput {
    static let lines = [
        RefusedInput("9112 2.2 bare LF after the request line", "GET / HTTP/1.1\nHost: a\r\n\r\n", .bareLineFeed),
        RefusedInput("9112 2.2 bare LF after a field", "GET / HTTP/1.1\r\nHost: a\n\r\n", .bareLineFeed),
        RefusedInput("9112 2.2 bare LF ends the head", "GET / HTTP/1.1\r\nHost: a\r\n\n", .bareLineFeed),
        RefusedInput("9112 2.2 bare LF first", "\nGET / HTTP/1.1\r\nHost: a\r\n\r\n", .bareLineFeed),
        RefusedInput("9112 2.2 bare CR in the target", "GET /\rx HTTP/1.1\r\nHost: a\r\n\r\n", .bareCarriageReturn),
        RefusedInput("9112 2.2 bare CR in a value", "GET / HTTP/1.1\r\nX: a\rb\r\n\r\n", .bareCarriageReturn),
        RefusedInput("9112 2.2 CR CR LF", "GET / HTTP/1.1\r\r\nHost: a\r\n\r\n", .bareCarriageReturn),
        RefusedInput("9112 2.2 bare CR for a line end", "GET / HTTP/1.1\rHost: a\r\r", .bareCarriageReturn),
        RefusedInput("9110 5.5 NUL in a value", "GET / HTTP/1.1\r\nX: a\0b\r\n\r\n", .controlCharacter),
        RefusedInput("9110 5.5 ESC in a value", "GET / HTTP/1.1\r\nX: \u{1B}[0m\r\n\r\n", .controlCharacter),
        RefusedInput("9110 5.5 DEL in a value", "GET / HTTP/1.1\r\nX: \u{7F}\r\n\r\n", .controlCharacter),
        RefusedInput("9110 5.5 NUL in a name", "GET / HTTP/1.1\r\nX\0: a\r\n\r\n", .controlCharacter),
        RefusedInput("9112 3.2 NUL in the target", "GET /\0 HTTP/1.1\r\n", .controlCharacter),
        RefusedInput("a TLS client on a plain port", "\u{16}\u{03}\u{01}\u{02}\0", .controlCharacter),
        RefusedInput(
            "9112 2.2 nine empty lines", String(repeating: "\r\n", count: 9) + "GET / HTTP/1.1\r\nHost: a\r\n\r\n",
            .leadingEmptyLines),
    ]

    static let requestLines = [
        RefusedInput("9112 3 HTTP/0.9", "GET /\r\n", .malformedRequestLine),
        RefusedInput("9112 3 one word", "GET\r\n", .malformedRequestLine),
        RefusedInput("9112 3 two spaces before the target", "GET  / HTTP/1.1\r\n", .malformedRequestLine),
        RefusedInput("9112 3 two spaces before the version", "GET /  HTTP/1.1\r\n", .malformedRequestLine),
        RefusedInput("9112 3 a space at the end", "GET / HTTP/1.1 \r\n", .malformedRequestLine),
        RefusedInput("9112 3 a space at the start", " GET / HTTP/1.1\r\n", .malformedRequestLine),
        RefusedInput("9112 3 a space in the target", "GET /a b HTTP/1.1\r\n", .malformedRequestLine),
        RefusedInput("9112 3 no target", "GET HTTP/1.1\r\n", .malformedRequestLine),
        RefusedInput("9112 3 tabs", "GET\t/\tHTTP/1.1\r\n", .malformedRequestLine),
        RefusedInput("9112 3 a tab before the version", "GET /\tHTTP/1.1\r\n", .malformedRequestLine),
        RefusedInput("9110 9.1 a method with a colon", "GE:T / HTTP/1.1\r\n", .malformedMethod),
        RefusedInput("9110 9.1 a method in quotes", "\"GET\" / HTTP/1.1\r\n", .malformedMethod),
        RefusedInput("9110 9.1 a method with a slash", "G/T / HTTP/1.1\r\n", .malformedMethod),
        RefusedInput("9110 9.1 a method that is not ASCII", "G\u{C4}T / HTTP/1.1\r\n", .malformedMethod),
        RefusedInput(
            "9112 3 a method of 33", "\(String(repeating: "A", count: 33)) / HTTP/1.1\r\n", .methodTooLong),
        RefusedInput("9112 3 a method without end", String(repeating: "A", count: 8193), .methodTooLong),
        RefusedInput(
            "9112 3 a target without end", "GET /\(String(repeating: "a", count: 8188))", .requestLineTooLong),
        RefusedInput("9112 2.3 lower case", "GET / http/1.1\r\n", .malformedVersion),
        RefusedInput("9112 2.3 the first letter in lower case", "GET / hTTP/1.1\r\n", .malformedVersion),
        RefusedInput("9112 2.3 the last letter in lower case", "GET / HTTp/1.1\r\n", .malformedVersion),
        RefusedInput("9112 2.3 two digits", "GET / HTTP/1.10\r\n", .malformedVersion),
        RefusedInput("9112 2.3 no minor version", "GET / HTTP/1\r\n", .malformedVersion),
        RefusedInput("9112 2.3 no dot", "GET / HTTP/1,1\r\n", .malformedVersion),
        RefusedInput("9112 2.3 letters", "GET / HTTP/1.x\r\n", .malformedVersion),
        RefusedInput("9112 2.3 another name", "GET / HTTQ/1.1\r\n", .malformedVersion),
        RefusedInput("9112 2.3 ICY", "GET / ICY/1.1\r\n", .malformedVersion),
        RefusedInput("9110 15.6.6 HTTP/2.0", "GET / HTTP/2.0\r\n", .unsupportedVersion),
        RefusedInput("9110 15.6.6 HTTP/0.9", "GET / HTTP/0.9\r\n", .unsupportedVersion),
        RefusedInput("9110 15.6.6 HTTP/3.0", "GET / HTTP/3.0\r\n", .unsupportedVersion),
        RefusedInput("9113 3.4 the preface of HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", .unsupportedVersion),
    ]

    static let targets: [RefusedInput] =
        [
            "\\", "\"", "<", ">", "^", "`", "{", "|", "}", "[", "]", "#f", "\u{E9}", "\u{80}", "%", "%2", "%zz", "%2g",
            "%g2",
        ]
        .flatMap { part in
            [
                RefusedInput("3986 3.3 in a path", "GET /a\(part) HTTP/1.1\r\n", .malformedTarget),
                RefusedInput("3986 3.4 in a query", "GET /a?b=\(part) HTTP/1.1\r\n", .malformedTarget),
            ]
        } + [
            RefusedInput("9112 3.2.1 no slash", "GET a/b HTTP/1.1\r\n", .malformedTarget),
            RefusedInput("9112 3.2.1 a query alone", "GET ?a HTTP/1.1\r\n", .malformedTarget),
            RefusedInput("9112 3.2.2 another scheme", "GET ftp://a/ HTTP/1.1\r\n", .malformedTarget),
            RefusedInput("9112 3.2.2 one slash", "GET http:/a/ HTTP/1.1\r\n", .malformedTarget),
            RefusedInput("9110 4.2.1 no authority", "GET http:// HTTP/1.1\r\n", .malformedTarget),
            RefusedInput("9110 4.2.1 an empty host", "GET http:///a HTTP/1.1\r\n", .malformedHost),
            RefusedInput("9110 7.4 https, unsecured", "GET https://a/ HTTP/1.1\r\n", .misdirected),
            RefusedInput("9110 4.2.4 user information", "GET http://u:p@a/ HTTP/1.1\r\n", .malformedHost),
            RefusedInput("3986 3.2.3 a port with letters", "GET http://a:80x/ HTTP/1.1\r\n", .malformedHost),
            RefusedInput("9112 3.2.4 asterisk without OPTIONS", "GET * HTTP/1.1\r\n", .targetFormMismatch),
            RefusedInput("9112 3.2.4 asterisk and more", "OPTIONS *a HTTP/1.1\r\n", .malformedTarget),
            RefusedInput("9112 3.2.3 authority without CONNECT", "GET a:80 HTTP/1.1\r\n", .malformedTarget),
            RefusedInput("9110 9.3.6 CONNECT", "CONNECT a:443 HTTP/1.1\r\n", .connectUnsupported),
            RefusedInput("9112 3.2.3 CONNECT without a port", "CONNECT a HTTP/1.1\r\n", .malformedTarget),
            RefusedInput("9112 3.2.3 CONNECT with an empty port", "CONNECT a: HTTP/1.1\r\n", .malformedTarget),
            RefusedInput("9112 3.2.3 CONNECT with a path", "CONNECT / HTTP/1.1\r\n", .malformedTarget),
        ]

    static let fields: [RefusedInput] =
        [
            ("9112 5.1 a blank before the colon", "Host : a", .blankBeforeColon),
            ("9112 5.1 a tab before the colon", "Host\t: a", .blankBeforeColon),
            ("9112 5.1 no colon", "Host", .malformedFieldName),
            ("9112 5.1 no colon, two words", "Host a", .blankBeforeColon),
            ("9112 5.1 an empty name", ": a", .malformedFieldName),
            ("9110 5.1 a name in brackets", "[Host]: a", .malformedFieldName),
            ("9110 5.1 a name that is not ASCII", "H\u{F6}st: a", .malformedFieldName),
            ("9110 5.1 a name with a comma", "a,b: c", .malformedFieldName),
            ("9110 5.1 a name in quotes", "\"Host\": a", .malformedFieldName),
            ("9112 2.2 a blank before the first field", " Host: a", .foldedField),
            ("9112 5.2 a folded line", "X: a\r\n b", .foldedField),
            ("9112 5.2 a folded line with a tab", "X: a\r\n\tb", .foldedField),
            ("9112 5.2 a line of blanks", "X: a\r\n  ", .foldedField),
        ].map { (clause: String, line: String, error: ProtocolError) in
            RefusedInput(clause, "GET / HTTP/1.1\r\n\(line)\r\n", error)
        } + [
            RefusedInput(
                "9110 10.1.1 another expectation", "POST / HTTP/1.1\r\nHost: a\r\nExpect: 200-ok\r\n\r\n",
                .unknownExpectation),
            RefusedInput(
                "9110 10.1.1 two expectations",
                "POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue, x\r\nContent-Length: 1\r\n\r\n",
                .unknownExpectation),
        ]

    static let hosts: [RefusedInput] =
        [
            "", "a b", "a, b", "a/b", "u@a", "a:b", "a:80:80", ":80", "a:65536", "a:-1", "a:+80", "a\"", "a%", "a%4",
            "a%zz", "\u{E9}", "[", "[]", "[:]", "[::1", "::1", "[::1]x", "[::1]:x", "[1:2:3:4:5:6:7]",
            "[1:2:3:4:5:6:7:8:9]",
            "[1::2::3]", "[12345::]", "[:::]", "[1:]", "[:1]", "[::1%25eth0]", "[::256.1.1.1]", "[::1.1.1]",
            "[::01.1.1.1]",
            "[1.2.3.4]", "[v.a]", "[v1.]", "[vg.a]", "[1:2:3:4:5:6:7::8]", "[1:2:3:4:5:6:7:8::]",
            "[1:2:3:4:5:6:7:1.2.3.4]", "[::1.2.3.4.5]",
            "a?b", "a#b", "a\\b", "<a>",
        ].map { RefusedInput("9112 3.2 Host", "GET / HTTP/1.1\r\nHost: \($0)\r\n\r\n", .malformedHost) } + [
            RefusedInput("9112 3.2 no Host", "GET / HTTP/1.1\r\n\r\n", .missingHost),
            RefusedInput("9112 3.2 Host twice", "GET / HTTP/1.1\r\nHost: a\r\nhOST: a\r\n\r\n", .repeatedHost),
            RefusedInput(
                "9112 3.2 Host twice in HTTP/1.0", "GET / HTTP/1.0\r\nHost: a\r\nHost: b\r\n\r\n", .repeatedHost),
            RefusedInput("9112 3.2 a bad Host in HTTP/1.0", "GET / HTTP/1.0\r\nHost: a b\r\n\r\n", .malformedHost),
            RefusedInput("9112 3.2.2 absolute without Host", "GET http://a/ HTTP/1.1\r\n\r\n", .missingHost),
            RefusedInput("9112 3.2 absolute, bad Host", "GET http://a/ HTTP/1.1\r\nHost: @\r\n\r\n", .malformedHost),
        ]
}
