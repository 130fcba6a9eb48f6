// The chunked coding: RFC 9112 section 7.1; and requests that are not complete: sections 6.3 and 8.

extension Row {
    static let chunks =
        rows(
            "9112 7.1", .must,
            [
                ("no chunk but the last", chunked("0\r\n\r\n"), .reads("POST /")),
                ("one chunk", chunked("3\r\nabc\r\n0\r\n\r\n"), .reads("POST / abc")),
                ("two chunks", chunked("3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n"), .reads("POST / abcde")),
                (
                    "chunks of one byte", chunked(many("1\r\nx\r\n", 20) + "0\r\n\r\n"),
                    .reads("POST / " + many("x", 20))
                ),
                ("a size in lower case", chunked("a\r\n0123456789\r\n0\r\n\r\n"), .reads("POST / 0123456789")),
                ("a size in capitals", chunked("A\r\n0123456789\r\n0\r\n\r\n"), .reads("POST / 0123456789")),
                (
                    "a size of two digits", chunked("1a\r\n\(many("x", 26))\r\n0\r\n\r\n"),
                    .reads("POST / " + many("x", 26))
                ),
                (
                    "sizes are hexadecimal", chunked("10\r\n0123456789abcdef\r\n0\r\n\r\n"),
                    .reads("POST / 0123456789abcdef")
                ),
                ("data of CR and LF", chunked("4\r\n\r\n\r\n\r\n0\r\n\r\n"), .reads("POST / \r\n\r\n")),
                ("data that looks like the end", chunked("5\r\n0\r\n\r\n\r\n0\r\n\r\n"), .reads("POST / 0\r\n\r\n")),
                (
                    "data of every kind of byte", chunked("4\r\n\u{00}\u{7F}\u{80}\u{FF}\r\n0\r\n\r\n"),
                    .reads("POST / \u{00}\u{7F}\u{80}\u{FF}")
                ),
                (
                    "the next request behind", chunked("1\r\nx\r\n0\r\n\r\n") + get("/2"),
                    .reads(["POST / x", "GET /2"])
                ),
                (
                    "two chunked requests", chunked("1\r\nx\r\n0\r\n\r\n") + chunked("1\r\ny\r\n0\r\n\r\n"),
                    .reads(["POST / x", "POST / y"])
                ),
            ])
        + rows(
            "9112 7.1", .robust,
            [
                ("leading zeros of a size", chunked("0003\r\nabc\r\n0\r\n\r\n"), .reads("POST / abc")),
                ("sixteen digits of a size", chunked("0000000000000003\r\nabc\r\n0\r\n\r\n"), .reads("POST / abc")),
                ("many zeros for the last chunk", chunked("00000\r\n\r\n"), .reads("POST /")),
                (
                    "one large chunk", chunked("10000\r\n\(many("x", 65_536))\r\n0\r\n\r\n"),
                    .reads("POST / " + many("x", 65_536))
                ),
            ])
        + rows(
            "9112 7.1", .must,
            [
                "ffffffffffffffff", "FFFFFFFFFFFFFFFF", "7fffffffffffffff", "8000000000000000", "8000000000000005",
                "ffffffff", "100000000", "100000005", "80000000", "10001",
            ].map { ("a size beyond what is allowed: \($0)", chunked("\($0)\r\nhello\r\n0\r\n\r\n"), .refused(413)) }
                + ["10000000000000000", "10000000000000005", "fffffffffffffffff", many("f", 100)].map {
                    (
                        "a size that no integer holds: \($0.prefix(20))", chunked("\($0)\r\nhello\r\n0\r\n\r\n"),
                        .refused(400)
                    )
                }
                + [("chunks beyond what is allowed together", chunked("1\r\nx\r\n10000\r\n"), .refused(413))])
        + rows(
            "9112 7.1", .must,
            [
                "", "-1", "+5", "-5", "-0", "0x5", "0X5", "5h", "g", "5 5", "5_0", "\"5\"", " 5", "\t5", "5.", "5.0",
                "five", "x", "=", ":", "5,5", "5,", "h5", "\u{B2}", "5\u{A0}", "\u{A0}5", "%35", "\\5", "$5", "(5)",
                "5=a", "5:a", "5/a", "5'",
            ].map { ("no size: \($0)", chunked("\($0)\r\nhello\r\n0\r\n\r\n"), .refused(400)) })
        + rows(
            "9112 7.1", .must,
            [
                ("more data than said", chunked("3\r\nabcd\r\n0\r\n\r\n"), .refused(400)),
                ("less data than said", chunked("5\r\nabc\r\n0\r\n\r\n"), .refused(400)),
                ("no line end after the data", chunked("3\r\nabc0\r\n\r\n"), .refused(400)),
                ("a blank after the data", chunked("3\r\nabc \r\n0\r\n\r\n"), .refused(400)),
                ("a byte for the CR after the data", chunked("3\r\nabcX\n0\r\n\r\n"), .refused(400)),
                ("a byte for the LF after the data", chunked("3\r\nabc\rX0\r\n\r\n"), .refused(400)),
                ("two line ends after the data", chunked("3\r\nabc\r\n\r\n0\r\n\r\n"), .refused(400)),
                ("an empty line before the first size", chunked("\r\n3\r\nabc\r\n0\r\n\r\n"), .refused(400)),
                ("content that is not chunked", chunked("hello\r\n\r\n"), .refused(400)),
                ("no last chunk but a request", chunked("3\r\nabc\r\n") + get("/2"), .refused(400)),
                ("a bad size behind a good chunk", chunked("3\r\nabc\r\nz\r\n"), .refused(400)),
                ("a bad size behind a request", get("/1") + chunked("z\r\n"), .refused(400, after: ["GET /1"])),
            ])
        + rows(
            "9112 7.1", .harden,
            [
                ("seventeen digits of a size", chunked("00000000000000005\r\nhello\r\n0\r\n\r\n"), .refused(400)),
                ("a hundred zeros of a size", chunked(many("0", 100) + "5\r\nhello\r\n0\r\n\r\n"), .refused(400)),
                ("a hundred zeros for the last chunk", chunked(many("0", 100) + "\r\n\r\n"), .refused(400)),
                ("a bare LF after a size", chunked("3\nabc\r\n0\r\n\r\n"), .refused(400)),
                ("a bare CR after a size", chunked("3\rabc\r\n0\r\n\r\n"), .refused(400)),
                ("two CR after a size", chunked("3\r\r\nabc\r\n0\r\n\r\n"), .refused(400)),
                ("a bare LF after the data", chunked("3\r\nabc\n0\r\n\r\n"), .refused(400)),
                ("a bare CR after the data", chunked("3\r\nabc\r0\r\n\r\n"), .refused(400)),
                ("a bare LF after the last size", chunked("0\n\r\n"), .refused(400)),
                ("a bare LF for the last line", chunked("0\r\n\n"), .refused(400)),
                ("a bare CR for the last line", chunked("0\r\n\rX"), .refused(400)),
                ("bare LF throughout", chunked("3\nabc\n0\n\n"), .refused(400)),
                ("a blank behind a size", chunked("3 \r\nabc\r\n0\r\n\r\n"), .refused(400)),
                ("a tab behind a size", chunked("3\t\r\nabc\r\n0\r\n\r\n"), .refused(400)),
                ("a blank behind the last size", chunked("0 \r\n\r\n"), .refused(400)),
                ("a blank before the last size", chunked(" 0\r\n\r\n"), .refused(400)),
            ]
                + each([0, 1, 11, 12, 27, 127], "a control behind a size", .refused(400)) {
                    chunked("3\($0)\r\nabc\r\n0\r\n\r\n")
                })

    static let chunkExtensions =
        rows(
            "9112 7.1.1", .must,
            [
                ("a name", "3;a"), ("a name and a value", "3;a=b"), ("a quoted value", "3;a=\"b\""),
                ("an empty quoted value", "3;a=\"\""),
                ("a semicolon in quotes", "3;a=\"b;c\""), ("a line end's look in quotes", "3;a=\"\\\\r\\\\n\""),
                ("a quote in quotes", "3;a=\"\\\"\""),
                ("a backslash in quotes", "3;a=\"\\\\\""), ("a tab in quotes", "3;a=\"b\tc\""),
                ("obs-text in quotes", "3;a=\"\u{E9}\""),
                ("several", "3;a;b=c;d=\"e\""), ("the same twice", "3;a=b;a=c"), ("digits", "3;1=2"),
                ("every character of a token", "3;!#$%&'*+-.^_`|~=!#$%&'*+-.^_`|~"),
                ("a name of 200 characters", "3;" + many("a", 200)),
            ].map { ("\($0.0) is ignored", chunked("\($0.1)\r\nabc\r\n0\r\n\r\n"), .reads("POST / abc")) }
                + [
                    ("one at the last chunk is ignored", chunked("3\r\nabc\r\n0;a=b\r\n\r\n"), .reads("POST / abc")),
                    (
                        "one at every chunk is ignored",
                        chunked("1;a\r\na\r\n1;b\r\nb\r\n1;c=\"d\"\r\nc\r\n0;e\r\n\r\n"), .reads("POST / abc")
                    ),
                    ("one that looks like a size", chunked("3;5\r\nabc\r\n0\r\n\r\n"), .reads("POST / abc")),
                ])
        + rows(
            "9110 5.6.3", .must,
            [
                "3 ;a", "3\t;a", "3; a", "3;\ta", "3 ; a = b", "3;a =b", "3;a= b", "3;a = \"b\" ; c",
                "3 \t ; \t a \t = \t b",
            ].map {
                ("bad blanks in an extension: \($0)", chunked("\($0)\r\nabc\r\n0\r\n\r\n"), .reads("POST / abc"))
            })
        + rows(
            "9112 7.1.1", .harden,
            [
                "3;", "3;;a", "3;a;", "3;=b", "3;a=", "3;a=b=c", "3;a=;b", "3;a=\"b", "3;a=\"b\\", "3;a=\"b\\\"",
                "3;a=\"b\"c", "3;a=\"b\" c", "3;a b", "3 a", "3;a ", "3;a=b ", "3,a", "3;a,b", "3;(a)", "3;a=(b)",
                "3;a=b/c", "3;\"a\"", "3;a=[b]", "3;a@b", "3;\u{E9}", "3;a=\u{E9}", "3;a={b}",
            ].map { ("an extension that is none: \($0)", chunked("\($0)\r\nabc\r\n0\r\n\r\n"), .refused(400)) }
                + each([0, 11, 27, 127], "a control in an extension", .refused(400)) {
                    chunked("3;a\($0)\r\nabc\r\n0\r\n\r\n")
                }
                + each([0, 11, 27, 127], "a control in a quoted extension", .refused(400)) {
                    chunked("3;a=\"\($0)\"\r\nabc\r\n0\r\n\r\n")
                }
                + [
                    ("a bare LF in an extension", chunked("3;a\nb\r\nabc\r\n0\r\n\r\n"), .refused(400)),
                    ("a bare CR in an extension", chunked("3;a\rb\r\nabc\r\n0\r\n\r\n"), .refused(400)),
                    ("a bare LF in a quoted extension", chunked("3;a=\"\n\"\r\nabc\r\n0\r\n\r\n"), .refused(400)),
                    ("an extension of 2000 octets", chunked("3;\(many("a", 2000))\r\nabc\r\n0\r\n\r\n"), .refused(400)),
                    (
                        "extensions of 2000 octets together",
                        chunked(many("1;\(many("a", 99))\r\nx\r\n", 20) + "0\r\n\r\n"), .refused(400)
                    ),
                    ("an extension without end", chunked("3;" + many("a", 10_000)), .refused(400)),
                ])

    static let trailers =
        rows(
            "9112 7.1.2", .must,
            [
                ("one", "X: b"), ("two", "Y: b\r\nZ: c"), ("an empty value", "X:"), ("blanks around", "X: \t b \t"),
                ("Content-Length", "Content-Length: 99"),
                ("Transfer-Encoding", "Transfer-Encoding: chunked"),
                ("Transfer-Encoding of something else", "Transfer-Encoding: x"), ("Host", "Host: b"),
                ("Host twice", "Host: b\r\nHost: c"),
                ("an impossible Host", "Host: @"), ("Connection", "Connection: close"), ("Expect", "Expect: x"),
                ("Authorization", "Authorization: Bearer a"), ("Content-Type", "Content-Type: a/b"),
                ("Trailer", "Trailer: X"),
                ("sixteen", many("Y: b\r\n", 15) + "Y: b"),
            ].map {
                ("trailers are not merged: \($0.0)", chunked("3\r\nabc\r\n0\r\n\($0.1)\r\n\r\n"), .reads("POST / abc"))
            }
                + [
                    (
                        "the next request behind trailers", chunked("0\r\nX: b\r\n\r\n") + get("/2"),
                        .reads(["POST /", "GET /2"])
                    ),
                    (
                        "a Content-Length in the trailer changes nothing",
                        chunked("0\r\nContent-Length: 50\r\n\r\n") + get("/2"), .reads(["POST /", "GET /2"])
                    ),
                ])
        + rows(
            "9110 6.5.1", .must,
            [
                (
                    "a field of the head is not replaced",
                    post("X: b\r\nTransfer-Encoding: chunked", "0\r\nX: c\r\n\r\n"), .reads("POST / X=[b]")
                ),
                (
                    "announced trailers are not merged either",
                    post("Trailer: X\r\nTransfer-Encoding: chunked", "0\r\nX: c\r\n\r\n"), .reads("POST /")
                ),
                (
                    "close in the trailer does not close", chunked("0\r\nConnection: close\r\n\r\n") + get("/2"),
                    .reads(["POST /", "GET /2"])
                ),
            ])
        + rows(
            "9112 7.1.2", .harden,
            [
                "X", "X b", ": b", ":", "X : b", "X\t: b", " X: b", "\tX: b", "X: b\r\n c", "X: b\rc", "X: b\nc",
                "X: b\n", "X\u{00}: b", "X: \u{00}", "X: \u{1B}", "X: \u{7F}", "(X): b", "X\u{E9}: b", "GET / HTTP/1.1",
            ].map { ("a trailer that is none: \($0)", chunked("0\r\n\($0)\r\n\r\n"), .refused(400)) }
                + [
                    ("seventeen trailers", chunked("0\r\n" + many("Y: b\r\n", 17) + "\r\n"), .refused(431)),
                    ("a trailer of 4000 octets", chunked("0\r\nY: \(many("b", 4000))\r\n\r\n"), .refused(431)),
                    ("a trailer without end", chunked("0\r\nY: " + many("b", 10_000)), .refused(431)),
                ])

    static let incomplete =
        rows(
            "9112 6.3", .must,
            [
                ("less content than said", post("Content-Length: 5", "hell"), .incomplete()),
                ("no content of what was said", post("Content-Length: 5"), .incomplete()),
                ("less content than said, with GET", fields("Content-Length: 5") + "hell", .incomplete()),
                ("less content than said in HTTP/1.0", old("POST /", "Content-Length: 5", "hell"), .incomplete()),
                (
                    "less content than said, and close", post("Connection: close\r\nContent-Length: 5", "hell"),
                    .incomplete()
                ),
                (
                    "less content than said, behind a request", get("/1") + post("Content-Length: 5", "hell"),
                    .incomplete(after: ["GET /1"])
                ),
                ("content cut within a request that follows", post("Content-Length: 500") + get("/2"), .incomplete()),
            ])
        + rows(
            "9112 8", .must,
            [
                ("no last chunk", chunked("3\r\nabc\r\n"), .incomplete()),
                ("no line end after the data", chunked("3\r\nabc"), .incomplete()),
                ("half a chunk", chunked("3\r\nab"), .incomplete()), ("half a size", chunked("3"), .incomplete()),
                ("no chunk", chunked(""), .incomplete()),
                ("half an extension", chunked("3;a=\"b"), .incomplete()),
                ("no empty line after the last chunk", chunked("0\r\n"), .incomplete()),
                ("half an empty line", chunked("0\r\n\r"), .incomplete()),
                ("half a trailer", chunked("0\r\nX: b"), .incomplete()),
                ("no empty line after the trailers", chunked("0\r\nX: b\r\n"), .incomplete()),
                ("the last size without its line end", chunked("0"), .incomplete()),
                ("half a method", "GE", .incomplete()), ("half a target", "GET /a", .incomplete()),
                ("half a version", "GET / HTTP/1", .incomplete()),
                ("half a line end", "GET / HTTP/1.1\r", .incomplete()),
                ("no fields", "GET / HTTP/1.1\r\n", .incomplete()),
                ("half a name", "GET / HTTP/1.1\r\nHos", .incomplete()),
                ("half a value", "GET / HTTP/1.1\r\nHost: a", .incomplete()),
                ("no empty line", "GET / HTTP/1.1\r\nHost: a\r\n", .incomplete()),
                ("half an empty line after the fields", "GET / HTTP/1.1\r\nHost: a\r\n\r", .incomplete()),
                ("an empty line alone", "\r\n", .incomplete()), ("half an empty line alone", "\r", .incomplete()),
                ("half a request behind one", get("/1") + "GET /2 HTT", .incomplete(after: ["GET /1"])),
                ("a DELETE without its empty line", "DELETE /a HTTP/1.1\r\nHost: a\r\n", .incomplete()),
                (
                    "a POST in HTTP/1.0 without its empty line", "POST /a HTTP/1.0\r\nContent-Length: 0\r\n",
                    .incomplete()
                ),
                ("nothing", "", .incomplete()),
            ])
}
