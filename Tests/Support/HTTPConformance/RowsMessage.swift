// Lines, and the request line: RFC 9112 sections 2.2, 2.3 and 3, RFC 9110 sections 2.5, 6.2 and 9.1.

extension Row {
    static let lines =
        rows(
            "9112 2.2", .must,
            [
                (
                    "a message is octets, not characters", post("Content-Length: 3", "\u{FF}\u{00}\u{80}"),
                    .reads("POST / \u{FF}\u{00}\u{80}")
                ),
                ("content may hold bare CR and LF", post("Content-Length: 4", "\r\r\n\n"), .reads("POST / \r\r\n\n")),
                ("a bare CR in the method", "GE\rT / HTTP/1.1\r\nHost: a\r\n\r\n", .refused(400)),
                ("a bare CR in the target", get("/\rx"), .refused(400)),
                ("a bare CR in the version", line("GET / HTTP/1.1\rx"), .refused(400)),
                ("a bare CR before the line end", line("GET / HTTP/1.1\r"), .refused(400)),
                ("a bare CR for a line end", "GET / HTTP/1.1\rHost: a\r\n\r\n", .refused(400)),
                ("a bare CR in a field name", fields("X\rY: b"), .refused(400)),
                ("a bare CR before the colon", fields("X\r: b"), .refused(400)),
                ("a bare CR after the colon", fields("X:\rb"), .refused(400)),
                ("a bare CR in a value", fields("X: b\rc"), .refused(400)),
                ("a bare CR that hides a field", fields("X: b\rTransfer-Encoding: chunked"), .refused(400)),
                ("a bare CR at the end of a value", fields("X: b\r"), .refused(400)),
                ("a bare CR in the empty line", "GET / HTTP/1.1\r\nHost: a\r\n\rX\r\n\r\n", .refused(400)),
                ("a bare CR before the request", "\rGET / HTTP/1.1\r\nHost: a\r\n\r\n", .refused(400)),
                ("two CR before LF, before the request", "\r\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n", .refused(400)),
                ("a blank before the first field", "GET / HTTP/1.1\r\n Host: a\r\n\r\n", .refused(400)),
                ("a tab before the first field", "GET / HTTP/1.1\r\n\tHost: a\r\n\r\n", .refused(400)),
                (
                    "a blank line with a blank before the fields", "GET / HTTP/1.1\r\n \r\nHost: a\r\n\r\n",
                    .refused(400)
                ),
                (
                    "a blank before a second field of framing",
                    "POST / HTTP/1.1\r\n Transfer-Encoding: chunked\r\nHost: a\r\n\r\n", .refused(400)
                ),
            ])
        + rows(
            "9112 2.2", .should,
            [
                ("one empty line before the request", "\r\n" + get(), .reads("GET /")),
                ("an empty line between two requests", get("/1") + "\r\n" + get("/2"), .reads(["GET /1", "GET /2"])),
                (
                    "an empty line after content", post("Content-Length: 1", "x") + "\r\n" + get("/2"),
                    .reads(["POST / x", "GET /2"])
                ),
                (
                    "an empty line after chunked content", chunked("0\r\n\r\n") + "\r\n" + get("/2"),
                    .reads(["POST /", "GET /2"])
                ),
                ("what is no request at all", "hello\r\n\r\n", .refused(400)),
                ("a response for a request", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", .refused(400)),
                (
                    "a client of TLS on a plain port",
                    "\u{16}\u{03}\u{01}\u{02}\u{00}\u{01}\u{00}\u{01}\u{FC}\u{03}\u{03}", .refused(400)
                ),
                ("a client of SSH", "SSH-2.0-OpenSSH_9.6\r\n", .refused(400)),
                ("a client of SMTP", "EHLO a\r\n", .refused(400)),
                ("JSON without HTTP", "{\"a\":1}\r\n", .refused(400)),
            ])
        + rows(
            "9112 2.2", .robust,
            [
                ("two empty lines before the request", "\r\n\r\n" + get(), .reads("GET /")),
                ("eight empty lines before the request", many("\r\n", 8) + get(), .reads("GET /")),
                (
                    "eight empty lines before each request", many("\r\n", 8) + get("/1") + many("\r\n", 8) + get("/2"),
                    .reads(["GET /1", "GET /2"])
                ),
            ])
        + rows(
            "9112 2.2", .harden,
            [
                ("nine empty lines before the request", many("\r\n", 9) + get(), .refused(400)),
                ("a bare LF after the request line", "GET / HTTP/1.1\nHost: a\r\n\r\n", .refused(400)),
                ("a bare LF after a field", "GET / HTTP/1.1\r\nHost: a\n\r\n", .refused(400)),
                ("a bare LF for the empty line", "GET / HTTP/1.1\r\nHost: a\r\n\n", .refused(400)),
                ("bare LF throughout", "GET / HTTP/1.1\nHost: a\n\n", .refused(400)),
                ("a bare LF in the target", get("/\nx"), .refused(400)),
                ("a bare LF in a value that hides a field", fields("X: b\nContent-Length: 5"), .refused(400)),
                ("a bare LF before the request", "\n" + get(), .refused(400)),
                ("LF CR", "GET / HTTP/1.1\n\rHost: a\n\r\n\r", .refused(400)),
                ("an empty line with a blank before the request", " \r\n" + get(), .refused(400)),
                ("NUL before the request", "\u{00}" + get(), .refused(400)),
                ("a byte order mark before the request", "\u{EF}\u{BB}\u{BF}" + get(), .refused(400)),
                ("NEL is no line end", "GET / HTTP/1.1\u{85}Host: a\r\n\r\n", .refused(400)),
                ("a form feed is no line end", "GET / HTTP/1.1\u{0C}Host: a\r\n\r\n", .refused(400)),
            ])

    static let requestLines =
        rows(
            "9112 3", .must,
            [
                ("a request line", line("GET / HTTP/1.1"), .reads("GET /")),
                ("a target of 9000 octets", get("/" + many("a", 8999)), .refused(414)),
                ("a query of 9000 octets", get("/?" + many("a", 8998)), .refused(414)),
                ("a target of 60000 octets", get("/" + many("a", 59_999)), .refused(414)),
                ("a target of 200000 octets, without end", "GET /" + many("a", 200_000), .refused(414)),
            ])
        + rows(
            "9112 3", .should,
            [
                (
                    "a request line of 8000 octets", get("/" + many("a", 8000 - 14)),
                    .reads("GET /" + many("a", 8000 - 14))
                ),
                (
                    "a request line of 8000 octets with a query", get("/?" + many("a", 8000 - 15)),
                    .reads("GET /?" + many("a", 8000 - 15))
                ),
                ("a method of 33 characters", line("\(many("A", 33)) / HTTP/1.1"), .refused(501)),
                ("a method of 5000 characters", line("\(many("A", 5000)) / HTTP/1.1"), .refused(501)),
                ("a method without end", many("A", 10_000), .refused(501)),
            ])
        + rows(
            "9112 3.2", .should,
            [
                ("a space in the target", get("/a b"), .refused(400)),
                ("a space in the query", get("/a?b= c"), .refused(400)),
                ("no target", line("GET HTTP/1.1"), .refused(400)),
                ("an empty target", line("GET  HTTP/1.1"), .refused(400)),
                ("no version", line("GET /"), .refused(400)),
                ("no version but a space", line("GET / "), .refused(400)),
                ("a method alone", line("GET"), .refused(400)),
                ("a target alone", line("/"), .refused(400)),
                ("a version alone", line("HTTP/1.1"), .refused(400)),
                ("no method", line("/ HTTP/1.1"), .refused(400)),
                ("an empty method", line(" / HTTP/1.1"), .refused(400)),
                ("four words", line("GET / / HTTP/1.1"), .refused(400)),
                ("something behind the version", line("GET / HTTP/1.1 x"), .refused(400)),
                ("words in another order", line("HTTP/1.1 / GET"), .refused(400)),
                ("three spaces alone", line("   "), .refused(400)),
            ])
        + rows(
            "9112 3", .harden,
            [
                ("two spaces before the target", line("GET  / HTTP/1.1"), .refused(400)),
                ("two spaces before the version", line("GET /  HTTP/1.1"), .refused(400)),
                ("a space at the start", line(" GET / HTTP/1.1"), .refused(400)),
                ("a space at the end", line("GET / HTTP/1.1 "), .refused(400)),
                ("a tab before the target", line("GET\t/ HTTP/1.1"), .refused(400)),
                ("a tab before the version", line("GET /\tHTTP/1.1"), .refused(400)),
                ("a tab at the end", line("GET / HTTP/1.1\t"), .refused(400)),
                ("a tab at the start", line("\tGET / HTTP/1.1"), .refused(400)),
                ("a vertical tab between", line("GET\u{0B}/ HTTP/1.1"), .refused(400)),
                ("a form feed between", line("GET /\u{0C}HTTP/1.1"), .refused(400)),
                ("a no-break space between", line("GET\u{A0}/ HTTP/1.1"), .refused(400)),
                ("a request line in quotes", line("\"GET / HTTP/1.1\""), .refused(400)),
            ]
                + each(controls, "a control in the target", .refused(400)) { get("/a\($0)b") }
                + each(controls.filter { $0 % 5 == 0 }, "a control in the version", .refused(400)) {
                    line("GET / HTTP/\($0)1.1")
                })

    static let versions =
        rows(
            "9112 2.3", .must,
            [
                ("HTTP in lower case", line("GET / http/1.1"), .refused(400)),
                ("HTTP in mixed case", line("GET / Http/1.1"), .refused(400)),
                ("the last letter in lower case", line("GET / HTTp/1.1"), .refused(400)),
                ("no minor version", line("GET / HTTP/1"), .refused(400)),
                ("no digit behind the dot", line("GET / HTTP/1."), .refused(400)),
                ("no major version", line("GET / HTTP/.1"), .refused(400)),
                ("two digits of a minor version", line("GET / HTTP/1.10"), .refused(400)),
                ("two digits of a major version", line("GET / HTTP/11.1"), .refused(400)),
                ("a leading zero", line("GET / HTTP/01.1"), .refused(400)),
                ("a zero behind", line("GET / HTTP/1.01"), .refused(400)),
                ("three numbers", line("GET / HTTP/1.1.1"), .refused(400)),
                ("a comma", line("GET / HTTP/1,1"), .refused(400)),
                ("no slash", line("GET / HTTP1.1"), .refused(400)),
                ("two slashes", line("GET / HTTP//1.1"), .refused(400)),
                ("a space within", line("GET / HTTP/ 1.1"), .refused(400)),
                ("a minus", line("GET / HTTP/-1.1"), .refused(400)),
                ("a plus", line("GET / HTTP/+1.1"), .refused(400)),
                ("letters", line("GET / HTTP/a.b"), .refused(400)),
                ("a hexadecimal digit", line("GET / HTTP/1.A"), .refused(400)),
                ("HTTPS", line("GET / HTTPS/1.1"), .refused(400)),
                ("another protocol", line("GET / ICY/1.1"), .refused(400)),
                ("another protocol of four letters", line("GET / RTSP/1.0"), .refused(400)),
                ("digits that are not ASCII", line("GET / HTTP/\u{B9}.1"), .refused(400)),
                ("behind a good request", get("/1") + line("GET /2 http/1.1"), .refused(400, after: ["GET /1"])),
            ])
        + rows(
            "9110 15.6.6", .should,
            [
                ("HTTP/2.0", line("GET / HTTP/2.0"), .refused(505)),
                ("HTTP/2.1", line("GET / HTTP/2.1"), .refused(505)),
                ("HTTP/3.0", line("GET / HTTP/3.0"), .refused(505)),
                ("HTTP/9.9", line("GET / HTTP/9.9"), .refused(505)),
                ("HTTP/0.9, written out", line("GET / HTTP/0.9"), .refused(505)),
                ("HTTP/0.0", line("GET / HTTP/0.0"), .refused(505)),
                ("the preface of HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", .refused(505)),
                (
                    "the preface of HTTP/2 behind a request", get("/1") + "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
                    .refused(505, after: ["GET /1"])
                ),
            ])
        + rows(
            "9110 6.2", .should,
            [
                ("HTTP/1.2 is processed as 1.1", line("GET / HTTP/1.2"), .reads("GET /")),
                ("HTTP/1.9 is processed as 1.1", line("GET / HTTP/1.9"), .reads("GET /")),
                (
                    "HTTP/1.2 with chunked content",
                    "POST / HTTP/1.2\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n",
                    .reads("POST / x")
                ),
                (
                    "HTTP/1.2 closes when asked", "GET / HTTP/1.2\r\nHost: a\r\nConnection: close\r\n\r\n",
                    .closes("GET /")
                ),
            ])
        + rows(
            "9110 6.2", .must,
            [
                ("HTTP/1.2 needs a Host", "GET / HTTP/1.2\r\n\r\n", .refused(400)),
                ("HTTP/1.0 is answered", old("GET /"), .closes("GET / @")),
                ("HTTP/1.0 with content", old("POST /", "Content-Length: 1", "x"), .closes("POST / @ x")),
            ])
        + rows(
            "9112 2.3", .harden,
            [
                ("HTTP/0.9", "GET /\r\n", .refused(400)),
                ("HTTP/0.9 with a space", "GET / \r\n", .refused(400)),
                ("HTTP/0.9 with fields", "GET /\r\nHost: a\r\n\r\n", .refused(400)),
                ("HTTP/0.9 behind a request", get("/1") + "GET /2\r\n", .refused(400, after: ["GET /1"])),
            ])

    static let methods =
        rows(
            "9110 9.1", .must,
            ["GET", "HEAD"].map { ("\($0) is read", line("\($0) / HTTP/1.1"), .reads("\($0) /")) }
                + [
                    ("methods are case-sensitive: get", line("get / HTTP/1.1"), .reads("get /")),
                    ("methods are case-sensitive: Get", line("Get / HTTP/1.1"), .reads("Get /")),
                ])
        + rows(
            "9110 9.1", .robust,
            [
                "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "PROPFIND", "QUERY", "M-SEARCH", "A",
                "!#$%&'*+-.^_`|~0z",
            ].map {
                ("\($0) is read", line("\($0) / HTTP/1.1"), .reads("\($0) /"))
            } + [("a method of 32 characters", line("\(many("A", 32)) / HTTP/1.1"), .reads("\(many("A", 32)) /"))])
        + rows(
            "9110 9.1", .should,
            each("\"(),/:;<=>?@[\\]{}".utf8, "a delimiter in the method", .refused(400)) { line("GE\($0)T / HTTP/1.1") }
                + each([0x80, 0xA0, 0xC4, 0xFF], "no ASCII in the method", .refused(400)) {
                    line("GE\($0)T / HTTP/1.1")
                }
                + each([0x00, 0x01, 0x08, 0x0B, 0x1B, 0x1F, 0x7F], "a control in the method", .refused(400)) {
                    line("GE\($0)T / HTTP/1.1")
                })
        + rows(
            "9110 9.3.6", .must,
            [
                ("CONNECT with an empty port", line("CONNECT a: HTTP/1.1"), .refused(400)),
                ("CONNECT without a port", line("CONNECT a HTTP/1.1"), .refused(400)),
                ("CONNECT with a port beyond 65535", line("CONNECT a:65536 HTTP/1.1"), .refused(400)),
                ("CONNECT with letters for a port", line("CONNECT a:http HTTP/1.1"), .refused(400)),
                ("CONNECT with a negative port", line("CONNECT a:-1 HTTP/1.1"), .refused(400)),
                ("CONNECT with port 0", line("CONNECT a:0 HTTP/1.1"), .refused(400)),
                ("CONNECT without a host", line("CONNECT :443 HTTP/1.1"), .refused(400)),
                ("CONNECT with a path", line("CONNECT /a HTTP/1.1"), .refused(400)),
                ("CONNECT with an absolute target", line("CONNECT http://a:80/ HTTP/1.1"), .refused(400)),
                ("CONNECT with user information", line("CONNECT u@a:443 HTTP/1.1"), .refused(400)),
                ("CONNECT with an asterisk", line("CONNECT * HTTP/1.1"), .refused(400)),
            ])
        + rows(
            "9110 9.1", .should,
            [
                ("CONNECT is not implemented", line("CONNECT a:443 HTTP/1.1"), .refused(501)),
                ("CONNECT to an address is not implemented", line("CONNECT [::1]:443 HTTP/1.1"), .refused(501)),
                (
                    "CONNECT behind a request", get("/1") + line("CONNECT a:443 HTTP/1.1"),
                    .refused(501, after: ["GET /1"])
                ),
            ])
}
