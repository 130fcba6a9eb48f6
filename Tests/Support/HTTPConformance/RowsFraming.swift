// Where content ends: RFC 9112 sections 6.1 to 6.3, RFC 9110 section 8.6.

extension Row {
    private static let maximum = 65_536

    static let lengths =
        rows(
            "9112 6.2", .must,
            [
                ("a length", post("Content-Length: 3", "abc"), .reads("POST / abc")),
                ("a length of 0", post("Content-Length: 0"), .reads("POST /")),
                (
                    "a length, and the next request behind", post("Content-Length: 3", "abc") + get("/2"),
                    .reads(["POST / abc", "GET /2"])
                ),
                (
                    "a length of 0, and the next request behind", post("Content-Length: 0") + get("/2"),
                    .reads(["POST /", "GET /2"])
                ),
                (
                    "content that looks like a request", post("Content-Length: 18", "GET /2 HTTP/1.1\r\n\r"),
                    .reads("POST / GET /2 HTTP/1.1\r\n\r")
                ),
                ("content that looks like chunks", post("Content-Length: 5", "0\r\n\r\n"), .reads("POST / 0\r\n\r\n")),
                (
                    "content with GET", "GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\nx" + get("/2"),
                    .reads(["GET / x", "GET /2"])
                ),
                (
                    "content with HEAD", "HEAD / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\nx" + get("/2"),
                    .reads(["HEAD / x", "GET /2"])
                ),
                (
                    "content with DELETE", "DELETE / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\nx" + get("/2"),
                    .reads(["DELETE / x", "GET /2"])
                ),
                (
                    "content with OPTIONS", "OPTIONS / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\nx" + get("/2"),
                    .reads(["OPTIONS / x", "GET /2"])
                ),
                (
                    "content with TRACE", "TRACE / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\nx" + get("/2"),
                    .reads(["TRACE / x", "GET /2"])
                ),
                (
                    "content with a method that nobody knows",
                    "BREW / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\nx" + get("/2"),
                    .reads(["BREW / x", "GET /2"])
                ),
            ])
        + rows(
            "9112 6.3", .must,
            [
                ("neither length nor coding is no content", post("X: b"), .reads("POST / X=[b]")),
                (
                    "neither, so that the next bytes are a request", post("X: b") + get("/2"),
                    .reads(["POST / X=[b]", "GET /2"])
                ),
                (
                    "neither, so that content is no request", post("X: b", "hello\r\n\r\n"),
                    .refused(400, after: ["POST / X=[b]"])
                ),
                ("neither in HTTP/1.0 is no content", old("POST /", "X: b"), .closes("POST / @ X=[b]")),
            ]
                + [
                    "+5", "-5", "-0", "+0", "0x5", "5h", "5a", "a", "5.0", "5e0", "5 5", "5\t5", "5_0", "'5'", "\"5\"",
                    "five", "0b101", "5;", "5;a=b", "(5)", "5%", "\u{D9}\u{A5}", "=5", ":5", "*",
                    "NaN", "Infinity", "5,", ",5", "5,a", "5, 6", "5,6", "0,5", "5;5", "5\u{A0}", "\u{B2}",
                ].map { ("no length: \($0)", post("Content-Length: \($0)", "hello"), .refused(400)) }
                + [
                    ("an empty length", post("Content-Length:", "hello"), .refused(400)),
                    ("a length of blanks", post("Content-Length: \t", "hello"), .refused(400)),
                    ("two different lengths", post("Content-Length: 5\r\nContent-Length: 6", "hello!"), .refused(400)),
                    (
                        "two different lengths, the smaller last",
                        post("Content-Length: 6\r\nContent-Length: 5", "hello!"), .refused(400)
                    ),
                    (
                        "two different lengths, far apart",
                        post("Content-Length: 5\r\nX: b\r\nY: c\r\ncontent-length: 6", "hello!"), .refused(400)
                    ),
                    ("a length and none", post("Content-Length: 5\r\nContent-Length:", "hello"), .refused(400)),
                    ("a length and 0", post("Content-Length: 5\r\nContent-Length: 0", "hello"), .refused(400)),
                    (
                        "three lengths", post("Content-Length: 5\r\nContent-Length: 5\r\nContent-Length: 6", "hello!"),
                        .refused(400)
                    ),
                    ("a bad length with GET", fields("Content-Length: x"), .refused(400)),
                    (
                        "a bad length with HEAD", "HEAD / HTTP/1.1\r\nHost: a\r\nContent-Length: x\r\n\r\n",
                        .refused(400)
                    ),
                    ("a bad length in HTTP/1.0", old("POST /", "Content-Length: x"), .refused(400)),
                    (
                        "two lengths in HTTP/1.0", old("POST /", "Content-Length: 1\r\nContent-Length: 2", "xy"),
                        .refused(400)
                    ),
                    (
                        "a bad length behind a request", get("/1") + post("Content-Length: x"),
                        .refused(400, after: ["GET /1"])
                    ),
                ])
        + rows(
            "9110 8.6", .must,
            [
                ("2 to the power of 31", post("Content-Length: 2147483648"), .refused(413)),
                ("2 to the power of 32", post("Content-Length: 4294967296"), .refused(413)),
                ("2 to the power of 32 and 5", post("Content-Length: 4294967301", "hello"), .refused(413)),
                ("2 to the power of 63 less 1", post("Content-Length: 9223372036854775807"), .refused(413)),
            ]
                + [
                    "9223372036854775808", "18446744073709551615", "18446744073709551616", "18446744073709551621",
                    "99999999999999999999",
                    "340282366920938463463374607431768211456", many("9", 400),
                ].map {
                    (
                        "a length that no integer holds: \($0.prefix(40))", post("Content-Length: \($0)", "hello"),
                        .refused(400)
                    )
                })
        + rows(
            "9110 8.6", .robust,
            [
                ("leading zeros", post("Content-Length: 0005", "hello"), .reads("POST / hello")),
                ("leading zeros are not octal", post("Content-Length: 010", "0123456789"), .reads("POST / 0123456789")),
                ("many leading zeros", post("Content-Length: \(many("0", 60))5", "hello"), .reads("POST / hello")),
                ("zeros alone", post("Content-Length: 000"), .reads("POST /")),
            ])
        + rows(
            "9112 6.3", .harden,
            [
                ("two equal lengths", post("Content-Length: 5\r\nContent-Length: 5", "hello"), .refused(400)),
                ("two equal lengths of 0", post("Content-Length: 0\r\nContent-Length: 0"), .refused(400)),
                ("a list of equal lengths", post("Content-Length: 5, 5", "hello"), .refused(400)),
                ("a list of equal lengths without a blank", post("Content-Length: 5,5", "hello"), .refused(400)),
                (
                    "lengths that are equal but for a zero", post("Content-Length: 5\r\nContent-Length: 05", "hello"),
                    .refused(400)
                ),
            ]
                + each([0, 1, 11, 12, 27, 127], "a control in a length", .refused(400)) {
                    post("Content-Length: 5\($0)", "hello")
                })
        + rows(
            "9110 15.5.14", .robust,
            [
                (
                    "as much as is allowed", post("Content-Length: \(maximum)", many("x", maximum)),
                    .reads("POST / " + many("x", maximum))
                ),
                ("one more than is allowed", post("Content-Length: \(maximum + 1)"), .refused(413)),
                (
                    "one more than is allowed, sent at once",
                    post("Content-Length: \(maximum + 1)", many("x", maximum + 1)), .refused(413)
                ),
                ("too much with GET", fields("Content-Length: 99999999"), .refused(413)),
                ("too much in HTTP/1.0", old("POST /", "Content-Length: 99999999"), .refused(413)),
            ])

    static let codings =
        rows(
            "9112 6.1", .must,
            [
                ("chunked", post("Transfer-Encoding: chunked", "1\r\nx\r\n0\r\n\r\n"), .reads("POST / x")),
                (
                    "chunked with GET", fields("Transfer-Encoding: chunked") + "1\r\nx\r\n0\r\n\r\n" + get("/2"),
                    .reads(["GET / x", "GET /2"])
                ),
                (
                    "chunked with HEAD",
                    "HEAD / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + get("/2"),
                    .reads(["HEAD /", "GET /2"])
                ),
                ("in HTTP/1.0", old("POST /", "Transfer-Encoding: chunked", "0\r\n\r\n"), .refused(400)),
                (
                    "in HTTP/1.0 with a Host and keep-alive",
                    old("POST /", "Host: a\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked", "0\r\n\r\n"),
                    .refused(400)
                ),
                (
                    "in HTTP/1.0 with a length",
                    old("POST /", "Content-Length: 5\r\nTransfer-Encoding: chunked", "0\r\n\r\n"), .refused(400)
                ),
                ("identity in HTTP/1.0", old("POST /", "Transfer-Encoding: identity", "x"), .refused(400)),
            ])
        + rows(
            "9112 7", .must,
            [
                ("Chunked", post("Transfer-Encoding: Chunked", "1\r\nx\r\n0\r\n\r\n"), .reads("POST / x")),
                ("CHUNKED", post("Transfer-Encoding: CHUNKED", "1\r\nx\r\n0\r\n\r\n"), .reads("POST / x")),
                ("cHuNkEd", post("transfer-ENCODING: cHuNkEd", "1\r\nx\r\n0\r\n\r\n"), .reads("POST / x")),
            ])
        + rows(
            "9112 6.3", .must,
            [
                "identity", "gzip", "x", "xchunked", "chunkedx", "chunk", "chunked-x", "x-chunked", "chunked, gzip",
                "chunked, identity", "chunked,x", "gzip, deflate", "chunked, chunked", "gzip, chunked, chunked",
                "chunked, gzip, chunked", "chunked;q=1", "chunked; a=b", "\"chunked\"", "'chunked'", "chun ked",
                "chunked chunked", "chunked;", "chunked=", "=chunked", "chunked:", ":chunked", "chunked/1",
                "{chunked}", "chunked\u{A0}", "\u{A0}chunked", "chunke\u{64}\u{80}", "5", "-", "*", "chunked, gzip;q=0",
                "ch\u{FC}nked", "chunKe\u{E4}",
            ].map {
                (
                    "chunked is not last, or no coding: \($0)", post("Transfer-Encoding: \($0)", "0\r\n\r\n"),
                    .refused(400)
                )
            }
                + [
                    ("an empty coding", post("Transfer-Encoding:", "0\r\n\r\n"), .refused(400)),
                    ("blanks for a coding", post("Transfer-Encoding: \t", "0\r\n\r\n"), .refused(400)),
                    (
                        "chunked twice, on two lines",
                        post("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked", "0\r\n\r\n"), .refused(400)
                    ),
                    (
                        "chunked, then identity, on two lines",
                        post("Transfer-Encoding: chunked\r\nTransfer-Encoding: identity", "0\r\n\r\n"), .refused(400)
                    ),
                    (
                        "identity, then chunked, on two lines",
                        post("Transfer-Encoding: identity\r\nTransfer-Encoding: chunked", "0\r\n\r\n"), .refused(400)
                    ),
                    (
                        "chunked, then nothing, on two lines",
                        post("Transfer-Encoding: chunked\r\nTransfer-Encoding:", "0\r\n\r\n"), .refused(400)
                    ),
                    ("an unknown coding with GET", fields("Transfer-Encoding: x"), .refused(400)),
                    (
                        "an unknown coding behind a request", get("/1") + post("Transfer-Encoding: x"),
                        .refused(400, after: ["GET /1"])
                    ),
                ])
        + rows(
            "9112 6.1", .should,
            [
                "gzip, chunked", "deflate, chunked", "x, chunked", "gzip,chunked", "gzip\t,\tchunked",
                "identity, chunked", "gzip, deflate, Chunked", "a;b=c, chunked",
            ].map {
                ("a coding that is not known: \($0)", post("Transfer-Encoding: \($0)", "0\r\n\r\n"), .refused(501))
            })
        + rows(
            "9112 6.1", .harden,
            [
                // Lists may have empty members (RFC 9110 §5.6.1.2); where content ends is too much to guess.
                ("an empty member before chunked", post("Transfer-Encoding: , chunked", "0\r\n\r\n"), .refused(400)),
                ("an empty member behind chunked", post("Transfer-Encoding: chunked,", "0\r\n\r\n"), .refused(400)),
                ("two commas", post("Transfer-Encoding: gzip,,chunked", "0\r\n\r\n"), .refused(400)),
                (
                    "codings on two lines", post("Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked", "0\r\n\r\n"),
                    .refused(400)
                ),
            ]
                + each([0, 8, 11, 12, 27, 31, 127], "a control before chunked", .refused(400)) {
                    post("Transfer-Encoding: \($0)chunked", "0\r\n\r\n")
                }
                + each([0, 8, 11, 12, 27, 31, 127], "a control behind chunked", .refused(400)) {
                    post("Transfer-Encoding: chunked\($0)", "0\r\n\r\n")
                })

    static let bothLengths =
        rows(
            "9112 6.1", .must,
            [
                ("both, the length first", "Content-Length: 5\r\nTransfer-Encoding: chunked"),
                ("both, the coding first", "Transfer-Encoding: chunked\r\nContent-Length: 5"),
                ("both, a length of 0", "Content-Length: 0\r\nTransfer-Encoding: chunked"),
                ("both, a bad length", "Content-Length: x\r\nTransfer-Encoding: chunked"),
                ("both, an empty length", "Content-Length:\r\nTransfer-Encoding: chunked"),
                ("both, a huge length", "Content-Length: 99999999999999999999\r\nTransfer-Encoding: chunked"),
                ("both, an unknown coding", "Content-Length: 5\r\nTransfer-Encoding: x"),
                ("both, identity", "Content-Length: 5\r\nTransfer-Encoding: identity"),
                ("both, an empty coding", "Content-Length: 5\r\nTransfer-Encoding:"),
                ("both, in another case", "content-length: 5\r\nTRANSFER-ENCODING: Chunked"),
                ("both, far apart", "Content-Length: 5\r\nX: b\r\nY: c\r\nTransfer-Encoding: chunked"),
                ("both, and two lengths", "Content-Length: 5\r\nContent-Length: 5\r\nTransfer-Encoding: chunked"),
                ("both, and close", "Connection: close\r\nContent-Length: 5\r\nTransfer-Encoding: chunked"),
            ].map { ($0.0, post($0.1, "0\r\n\r\n"), .refused(400)) }
                + [
                    (
                        "both, and a smuggled request",
                        post("Content-Length: 6\r\nTransfer-Encoding: chunked", "0\r\n\r\nG") + get("/2"), .refused(400)
                    ),
                    (
                        "both, behind a request",
                        get("/1") + post("Content-Length: 5\r\nTransfer-Encoding: chunked", "0\r\n\r\n"),
                        .refused(400, after: ["GET /1"])
                    ),
                ])
}
