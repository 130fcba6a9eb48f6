// Field lines, values and lists: RFC 9112 section 5, RFC 9110 sections 5.1 to 5.6.

extension Row {
    /// What may not stand in a name: everything visible that is no `tchar`, but the colon that ends it.
    private static let delimiters = "\"(),/;<=>?@[\\]{}".utf8

    static let fieldLines =
        rows(
            "9112 5.1", .must,
            [
                ("a blank before the colon", fields("X : b"), .refused(400)),
                ("a tab before the colon", fields("X\t: b"), .refused(400)),
                ("two blanks before the colon", fields("X  : b"), .refused(400)),
                ("a blank before the colon of Host", "GET / HTTP/1.1\r\nHost : a\r\n\r\n", .refused(400)),
                ("a blank before the colon of Content-Length", post("Content-Length : 1", "x"), .refused(400)),
                (
                    "a blank before the colon of Transfer-Encoding", post("Transfer-Encoding : chunked", "0\r\n\r\n"),
                    .refused(400)
                ),
                (
                    "a tab before the colon of Transfer-Encoding", post("Transfer-Encoding\t: chunked", "0\r\n\r\n"),
                    .refused(400)
                ),
                ("a blank before the colon, without a value", fields("X :"), .refused(400)),
                ("a blank before the colon in HTTP/1.0", old("GET /", "X : b"), .refused(400)),
                (
                    "a blank before the colon, behind a request", get("/1") + fields("X : b"),
                    .refused(400, after: ["GET /1"])
                ),
            ])
        + rows(
            "9110 5.1", .must,
            [
                ("a name in lower case", fields("x: b"), .reads("GET / X=[b]")),
                ("names compare without regard to case", fields("x: b\r\nX: c"), .reads("GET / X=[b] X=[c]")),
                ("content-length in lower case", post("content-length: 1", "x"), .reads("POST / x")),
                ("CONTENT-LENGTH in capitals", post("CONTENT-LENGTH: 1", "x"), .reads("POST / x")),
                (
                    "transfer-encoding in lower case", post("transfer-encoding: chunked", "1\r\nx\r\n0\r\n\r\n"),
                    .reads("POST / x")
                ),
                ("connection in lower case", fields("connection: close"), .closes("GET /")),
                (
                    "EXPECT in capitals", post("EXPECT: 100-continue\r\nContent-Length: 1", "\(pause)x"),
                    .reads("POST / x")
                ),
            ])
        + rows(
            "9110 5.1", .should,
            [
                ("a field that nobody knows", fields("Whatever: b"), .reads("GET /")),
                ("a field with an X", fields("X-Whatever: b"), .reads("GET /")),
                ("a name of every character of a token", fields("!#$%&'*+-.^_`|~09azAZ: b"), .reads("GET /")),
                ("a name of one character", fields("a: b"), .reads("GET /")),
                ("a name of 200 characters", fields("\(many("n", 200)): b"), .reads("GET /")),
                ("a name of digits", fields("123: b"), .reads("GET /")),
                (
                    "an underscore in a name is another name", post("Content_Length: 9\r\nContent-Length: 1", "x"),
                    .reads("POST / x")
                ),
            ])
        + rows(
            "9112 2.2", .should,
            [
                ("no colon", fields("X"), .refused(400)),
                ("no colon but a blank", fields("X b"), .refused(400)),
                ("an empty name", fields(": b"), .refused(400)),
                ("a colon alone", fields(":"), .refused(400)),
                ("a second request line in the fields", fields("GET / HTTP/1.1"), .refused(400)),
                ("a name in brackets", fields("[X]: b"), .refused(400)),
            ]
                + each(delimiters, "a delimiter in a name", .refused(400)) { fields("a\($0)b: c") }
                + each([0x80, 0x8A, 0xA0, 0xC3, 0xE9, 0xFF], "no ASCII in a name", .refused(400)) {
                    fields("a\($0)b: c")
                })
        + rows(
            "9110 5.1", .harden,
            each(controls, "a control in a name", .refused(400)) { fields("a\($0)b: c") }
                + [
                    ("a delimiter before Content-Length", fields("\"Content-Length: 5"), .refused(400)),
                    ("a form feed before Transfer-Encoding", fields("\u{0C}Transfer-Encoding: chunked"), .refused(400)),
                    ("NUL behind Transfer-Encoding", fields("Transfer-Encoding\u{00}: chunked"), .refused(400)),
                    (
                        "a no-break space behind Transfer-Encoding", fields("Transfer-Encoding\u{A0}: chunked"),
                        .refused(400)
                    ),
                    ("a colon before a name", fields(":Transfer-Encoding: chunked"), .refused(400)),
                ])

    static let fieldValues =
        rows(
            "9110 5.5", .must,
            [
                ("one blank before", fields("X: b"), .reads("GET / X=[b]")),
                ("no blank before", fields("X:b"), .reads("GET / X=[b]")),
                ("many blanks before", fields("X:     b"), .reads("GET / X=[b]")),
                ("a tab before", fields("X:\tb"), .reads("GET / X=[b]")),
                ("blanks and tabs before", fields("X: \t \tb"), .reads("GET / X=[b]")),
                ("a blank behind", fields("X: b "), .reads("GET / X=[b]")),
                ("a tab behind", fields("X: b\t"), .reads("GET / X=[b]")),
                ("blanks and tabs behind", fields("X: b \t \t"), .reads("GET / X=[b]")),
                ("blanks and tabs around", fields("X:\t b\t "), .reads("GET / X=[b]")),
                ("a tab before Content-Length's value", post("Content-Length:\t1", "x"), .reads("POST / x")),
                ("blanks around Content-Length's value", post("Content-Length:  1 \t", "x"), .reads("POST / x")),
                (
                    "tabs around the transfer coding", post("Transfer-Encoding:\tchunked\t", "0\r\n\r\n"),
                    .reads("POST /")
                ),
                ("tabs around Host's value", host("\ta\t"), .reads("GET /")),
                ("tabs around a connection option", fields("Connection:\tclose\t"), .closes("GET /")),
                (
                    "tabs around an expectation", post("Expect:\t100-continue\t\r\nContent-Length: 1", "\(pause)x"),
                    .reads("POST / x")
                ),
            ]
                + each([0, 10, 13], "NUL, LF and CR in a value", .refused(400)) { fields("X: b\($0)c") }
                + each([0, 10, 13], "NUL, LF and CR as a value", .refused(400)) { fields("X: \($0)") })
        + rows(
            "9110 5.5", .robust,
            [
                ("an empty value", fields("X:"), .reads("GET / X=[]")),
                ("a value of blanks", fields("X: \t "), .reads("GET / X=[]")),
                ("blanks within stay", fields("X: b  c\td"), .reads("GET / X=[b  c\td]")),
                ("colons within", fields("X: b:c: d"), .reads("GET / X=[b:c: d]")),
                ("quotes and backslashes", fields("X: \"b\\\"c\""), .reads("GET / X=[\"b\\\"c\"]")),
                ("an open quote is only a value", fields("X: \"b"), .reads("GET / X=[\"b]")),
                ("a comment", fields("X: b (c (d))"), .reads("GET / X=[b (c (d))]")),
                (
                    "every visible character", fields("X: !\"#$%&'()*+,-./09:;<=>?@AZ[\\]^_`az{|}~"),
                    .reads("GET / X=[!\"#$%&'()*+,-./09:;<=>?@AZ[\\]^_`az{|}~]")
                ),
                ("a value of 8000 octets", fields("Y: \(many("b", 8000))"), .reads("GET /")),
                ("ninety fields", fields(many("Y: b\r\n", 90) + "X: c"), .reads("GET / X=[c]")),
            ])
        + rows(
            "9110 5.5", .should,
            [
                ("UTF-8 in a value", fields("X: \u{C3}\u{A9}"), .reads("GET / X=[\u{E9}]")),
                ("obs-text in a field that nobody asks for", fields("Y: \u{80}\u{FF}"), .reads("GET /")),
                ("obs-text is no blank", fields("Y: \u{A0}\u{85}"), .reads("GET /")),
            ])
        + rows(
            "9110 5.5", .harden,
            each(controls.filter { $0 != 0 }, "a control in a value", .refused(400)) { fields("X: b\($0)c") }
                + each([0, 1, 8, 11, 12, 27, 31, 127], "a control at the end of a value", .refused(400)) {
                    fields("X: b\($0)")
                })

    static let folding =
        rows(
            "9112 5.2", .must,
            [
                ("a folded line", fields("X: a\r\n b"), .refused(400)),
                ("a line folded with a tab", fields("X: a\r\n\tb"), .refused(400)),
                ("folded twice", fields("X: a\r\n b\r\n c"), .refused(400)),
                ("a value that starts on the next line", fields("X:\r\n b"), .refused(400)),
                ("a line of blanks alone", fields("X: a\r\n  "), .refused(400)),
                ("a folded Host", "GET / HTTP/1.1\r\nHost:\r\n a\r\n\r\n", .refused(400)),
                ("a folded Content-Length", post("Content-Length:\r\n 1", "x"), .refused(400)),
                ("a Content-Length folded within", post("Content-Length: 1\r\n 0", many("x", 10)), .refused(400)),
                ("a folded Transfer-Encoding", post("Transfer-Encoding:\r\n chunked", "0\r\n\r\n"), .refused(400)),
                (
                    "a Transfer-Encoding folded behind", post("Transfer-Encoding: chunked\r\n , x", "0\r\n\r\n"),
                    .refused(400)
                ),
                ("a field that hides as a folded one", fields("X: a\r\n Transfer-Encoding: chunked"), .refused(400)),
                ("folded in HTTP/1.0", old("GET /", "X: a\r\n b"), .refused(400)),
                ("folded behind a request", get("/1") + fields("X: a\r\n b"), .refused(400, after: ["GET /1"])),
                ("folded in a trailer", chunked("0\r\nX: a\r\n b\r\n\r\n"), .refused(400)),
            ])

    static let lists =
        rows(
            "9110 5.6.1.2", .must,
            [
                ("an empty member before", fields("Connection: , close"), .closes("GET /")),
                ("an empty member behind", fields("Connection: close,"), .closes("GET /")),
                ("empty members between", fields("Connection: x,, ,\t,close"), .closes("GET /")),
                ("no blanks", fields("Connection: x,close,y"), .closes("GET /")),
                ("tabs around members", fields("Connection: x\t,\tclose\t,y"), .closes("GET /")),
                ("commas alone", fields("Connection: ,,,"), .reads("GET /")),
                ("an empty list", fields("Connection:"), .reads("GET /")),
                ("an empty expectation is none", post("Expect:\r\nContent-Length: 1", "x"), .reads("POST / x")),
                (
                    "empty members around an expectation",
                    post("Expect: , 100-continue,\r\nContent-Length: 1", "\(pause)x"), .reads("POST / x")
                ),
            ])
        + rows(
            "9110 5.3", .must,
            [
                ("a list over two lines", fields("Connection: x\r\nConnection: close"), .closes("GET /")),
                (
                    "a list over two lines, the first counts too", fields("Connection: close\r\nConnection: x"),
                    .closes("GET /")
                ),
                ("a list over lines far apart", fields("Connection: x\r\nY: b\r\nconnection: close"), .closes("GET /")),
                (
                    "a list over two lines, the first empty", fields("Connection:\r\nConnection: close"),
                    .closes("GET /")
                ),
                (
                    "lines of one name keep their order", fields("X: 1\r\nY: b\r\nX: 2\r\nX: 3"),
                    .reads("GET / X=[1] X=[2] X=[3]")
                ),
                (
                    "nothing is done before the whole head", "POST /1 HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n",
                    .incomplete()
                ),
                (
                    "a fault in the last field counts", "DELETE / HTTP/1.1\r\nHost: a\r\nX: b\r\nY\r\n\r\n",
                    .refused(400)
                ),
            ])
        + rows(
            "9110 7.6.1", .must,
            [
                ("connection options have any case", fields("Connection: CLOSE"), .closes("GET /")),
                ("connection options in mixed case", fields("Connection: cLoSe"), .closes("GET /")),
                ("an option that contains close is another one", fields("Connection: closed"), .reads("GET /")),
                ("an option that ends in close is another one", fields("Connection: not-close"), .reads("GET /")),
                ("an unknown option", fields("Connection: x"), .reads("GET /")),
                ("an option that names a field", fields("Connection: x\r\nX: b"), .reads("GET / X=[b]")),
                ("an option that names Host", fields("Connection: host"), .reads("GET /")),
                (
                    "an option that names Content-Length", post("Connection: content-length\r\nContent-Length: 1", "x"),
                    .reads("POST / x")
                ),
                (
                    "an option that names Transfer-Encoding",
                    post("Connection: transfer-encoding\r\nTransfer-Encoding: chunked", "0\r\n\r\n"), .reads("POST /")
                ),
            ])

    /// Fields that an origin server without the feature must pass over.
    static let ignoredFields =
        rows(
            "9110 5.1", .robust,
            [
                ("TE", "TE: trailers, deflate;q=0.5\r\nConnection: TE"), ("TE of chunked", "TE: chunked"),
                ("Trailer", "Trailer: X-Checksum"),
                ("Via", "Via: 1.0 fred, 1.1 p.example"), ("Max-Forwards", "Max-Forwards: 0"),
                ("Max-Forwards of letters", "Max-Forwards: x"),
                ("Keep-Alive", "Keep-Alive: timeout=5, max=100"), ("Proxy-Connection", "Proxy-Connection: close"),
                ("From", "From: a@b.example"), ("Referer", "Referer: http://a/b#c"),
                ("a Date that is none", "Date: yesterday"),
                ("Accept that is broken", "Accept: ;;q=x, */"), ("Accept-Charset", "Accept-Charset: *;q=0"),
                ("Accept-Encoding of nothing", "Accept-Encoding:"),
                ("Accept-Encoding without identity", "Accept-Encoding: identity;q=0"),
                ("Accept-Language", "Accept-Language: x;q=9"),
                ("Cookie", "Cookie: a=b; c"), ("Forwarded", "Forwarded: for=_x;proto=https"),
                ("X-Forwarded-For", "X-Forwarded-For: 1.2.3.4, unknown"),
                ("Content-Type without content", "Content-Type: text/plain"),
                ("Content-Location", "Content-Location: /other"),
                ("Content-Language", "Content-Language: tlh"),
                ("Content-Range without content", "Content-Range: bytes 0-0/1"),
                ("Cache-Control", "Cache-Control: only-if-cached"), ("Pragma", "Pragma: no-cache"),
                ("Warning", "Warning: 199 - x"),
                ("X-HTTP-Method-Override", "X-HTTP-Method-Override: DELETE"),
                ("a User-Agent of nothing", "User-Agent:"),
            ].map { ($0.0 + " is passed over", fields($0.1), .reads("GET /")) })
}
