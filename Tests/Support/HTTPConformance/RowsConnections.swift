// Connections: RFC 9112 section 9, RFC 9110 sections 5.4, 7.8, 10.1.1 and 15.2.

extension Row {
    static let persistence =
        rows(
            "9112 9.3", .should,
            [
                ("HTTP/1.1 stays open", get("/1") + get("/2") + get("/3"), .reads(["GET /1", "GET /2", "GET /3"])),
                ("HTTP/1.1 stays open with keep-alive", fields("Connection: keep-alive"), .reads("GET /")),
                ("HTTP/1.0 closes", old("GET /"), .closes("GET / @")),
                ("HTTP/1.0 closes with another option", old("GET /", "Connection: x"), .closes("GET / @")),
                ("HTTP/1.0 stays open with keep-alive", old("GET /", "Connection: keep-alive"), .reads("GET / @")),
                ("HTTP/1.0 stays open with Keep-Alive", old("GET /", "Connection: Keep-Alive"), .reads("GET / @")),
                (
                    "HTTP/1.0 stays open with keep-alive in a list", old("GET /", "Connection: x, keep-alive"),
                    .reads("GET / @")
                ),
                (
                    "HTTP/1.0 stays open after content",
                    old("POST /", "Connection: keep-alive\r\nContent-Length: 1", "x"), .reads("POST / @ x")
                ),
                (
                    "HTTP/1.0 with keep-alive, then without", old("GET /1", "Connection: keep-alive") + old("GET /2"),
                    .closes(["GET /1 @", "GET /2 @"])
                ),
                (
                    "HTTP/1.0 with keep-alive, then HTTP/1.1", old("GET /1", "Connection: keep-alive") + get("/2"),
                    .reads(["GET /1 @", "GET /2"])
                ),
                ("HTTP/1.1, then HTTP/1.0", get("/1") + old("GET /2"), .closes(["GET /1", "GET /2 @"])),
                (
                    "Keep-Alive without Connection closes HTTP/1.0", old("GET /", "Keep-Alive: timeout=5"),
                    .closes("GET / @")
                ),
            ])
        + rows(
            "9112 9.6", .must,
            [
                ("close closes", fields("Connection: close"), .closes("GET /")),
                ("close among other options", fields("Connection: x, close, y"), .closes("GET /")),
                ("close beats keep-alive", fields("Connection: keep-alive, close"), .closes("GET /")),
                (
                    "close beats keep-alive in the other order", fields("Connection: close, keep-alive"),
                    .closes("GET /")
                ),
                (
                    "close beats keep-alive on two lines", fields("Connection: keep-alive\r\nConnection: close"),
                    .closes("GET /")
                ),
                (
                    "close beats keep-alive in HTTP/1.0", old("GET /", "Connection: keep-alive, close"),
                    .closes("GET / @")
                ),
                ("nothing behind close is processed", fields("Connection: close") + get("/2"), .closes("GET /")),
                (
                    "nothing bad behind close is looked at", fields("Connection: close") + "BAD\r\n\r\n",
                    .closes("GET /")
                ),
                ("nothing behind HTTP/1.0 is processed", old("GET /") + get("/2"), .closes("GET / @")),
                ("close with content", post("Connection: close\r\nContent-Length: 1", "x"), .closes("POST / x")),
                (
                    "close with chunked content",
                    post("Connection: close\r\nTransfer-Encoding: chunked", "1\r\nx\r\n0\r\n\r\n"), .closes("POST / x")
                ),
                (
                    "content beyond the length behind close", post("Connection: close\r\nContent-Length: 1", "xyz"),
                    .closes("POST / x")
                ),
                ("close in the second request", get("/1") + fields("Connection: close"), .closes(["GET /1", "GET /"])),
                ("close with HEAD", "HEAD / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", .closes("HEAD /")),
                (
                    "close with OPTIONS *", "OPTIONS * HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
                    .closes("OPTIONS *")
                ),
            ])

    static let pipelining =
        rows(
            "9112 9.3.2", .must,
            [
                ("two", get("/1") + get("/2"), .reads(["GET /1", "GET /2"])),
                ("twenty", (1...20).map { get("/\($0)") }.joined(), .reads((1...20).map { "GET /\($0)" })),
                (
                    "HEAD among GET", get("/1") + line("HEAD /2 HTTP/1.1") + get("/3"),
                    .reads(["GET /1", "HEAD /2", "GET /3"])
                ),
                (
                    "content of each kind", post("Content-Length: 1", "x") + chunked("1\r\ny\r\n0\r\n\r\n") + get("/3"),
                    .reads(["POST / x", "POST / y", "GET /3"])
                ),
                (
                    "methods that are not safe", line("DELETE /1 HTTP/1.1") + line("PUT /2 HTTP/1.1") + get("/3"),
                    .reads(["DELETE /1", "PUT /2", "GET /3"])
                ),
                (
                    "OPTIONS * in between", get("/1") + line("OPTIONS * HTTP/1.1") + get("/3"),
                    .reads(["GET /1", "OPTIONS *", "GET /3"])
                ),
                (
                    "what is good before what is bad", get("/1") + get("/2") + "BAD\r\n\r\n",
                    .refused(400, after: ["GET /1", "GET /2"])
                ),
                ("nothing behind what is bad", get("/1") + "BAD\r\n\r\n" + get("/3"), .refused(400, after: ["GET /1"])),
                (
                    "an unknown coding in between", get("/1") + post("Transfer-Encoding: gzip, chunked") + get("/3"),
                    .refused(501, after: ["GET /1"])
                ),
                (
                    "too much content in between", get("/1") + post("Content-Length: 999999") + get("/3"),
                    .refused(413, after: ["GET /1"])
                ),
                (
                    "a version of another time in between", get("/1") + line("GET /2 HTTP/2.0") + get("/3"),
                    .refused(505, after: ["GET /1"])
                ),
            ])
        + rows(
            "9112 9.3", .must,
            [
                (
                    "content is read though nobody wants it",
                    "GET /1 HTTP/1.1\r\nHost: a\r\nContent-Length: \(get("/2").utf8.count)\r\n\r\n" + get("/2")
                        + get("/3"), .reads(["GET /1 " + get("/2"), "GET /3"])
                ),
                (
                    "chunked content is read though nobody wants it",
                    fields("Transfer-Encoding: chunked") + "5\r\nGET /\r\n0\r\n\r\n" + get("/3"),
                    .reads(["GET / GET /", "GET /3"])
                ),
            ])

    static let expectations =
        rows(
            "9110 10.1.1", .must,
            [
                (
                    "a client that waits is told to go on",
                    post("Expect: 100-continue\r\nContent-Length: 3", "\(pause)abc"), .reads("POST / abc")
                ),
                (
                    "a client that waits with chunked content",
                    post("Expect: 100-continue\r\nTransfer-Encoding: chunked", "\(pause)1\r\nx\r\n0\r\n\r\n"),
                    .reads("POST / x")
                ),
                (
                    "the expectation in another case", post("Expect: 100-Continue\r\nContent-Length: 1", "\(pause)x"),
                    .reads("POST / x")
                ),
                (
                    "with PUT",
                    "PUT / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 1\r\n\r\n\(pause)x",
                    .reads("PUT / x")
                ),
                (
                    "with GET",
                    "GET / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 1\r\n\r\n\(pause)x",
                    .reads("GET / x")
                ),
                (
                    "behind a request", get("/1") + post("Expect: 100-continue\r\nContent-Length: 1", "\(pause)x"),
                    .reads(["GET /1", "POST / x"])
                ),
                (
                    "in HTTP/1.2",
                    "POST / HTTP/1.2\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 1\r\n\r\n\(pause)x",
                    .reads("POST / x")
                ),
                (
                    "twice on one connection",
                    post("Expect: 100-continue\r\nContent-Length: 1", "\(pause)x")
                        + post("Expect: 100-continue\r\nContent-Length: 1", "\(pause)y"),
                    .reads(["POST / x", "POST / y"])
                ),
                (
                    "and close", post("Connection: close\r\nExpect: 100-continue\r\nContent-Length: 1", "\(pause)x"),
                    .closes("POST / x")
                ),
                (
                    "HTTP/1.0 has none", old("POST /", "Expect: 100-continue\r\nContent-Length: 1", "x"),
                    .closes("POST / @ x")
                ),
                (
                    "HTTP/1.0 with another one", old("POST /", "Expect: x\r\nContent-Length: 1", "x"),
                    .closes("POST / @ x")
                ),
                ("without content", post("Expect: 100-continue"), .reads("POST /")),
                ("with content of length 0", post("Expect: 100-continue\r\nContent-Length: 0"), .reads("POST /")),
                ("with GET without content", fields("Expect: 100-continue"), .reads("GET /")),
            ])
        + rows(
            "9110 10.1.1", .robust,
            [
                (
                    "content that has come already", post("Expect: 100-continue\r\nContent-Length: 3", "abc"),
                    .reads("POST / abc")
                ),
                (
                    "chunked content that has come already",
                    post("Expect: 100-continue\r\nTransfer-Encoding: chunked", "1\r\nx\r\n0\r\n\r\n"),
                    .reads("POST / x")
                ),
                (
                    "said twice in a list",
                    post("Expect: 100-continue, 100-continue\r\nContent-Length: 1", "\(pause)x"), .reads("POST / x")
                ),
                (
                    "said twice on two lines",
                    post("Expect: 100-continue\r\nExpect: 100-continue\r\nContent-Length: 1", "\(pause)x"),
                    .reads("POST / x")
                ),
            ])
        + rows(
            "9110 10.1.1", .harden,
            [
                "x", "200-ok", "100-continue, x", "x, 100-continue", "100-continue;q=1", "100-continue=1", "100",
                "\"100-continue\"", "100-continue x", "100continue", "a=b",
            ].map {
                (
                    "an expectation that nobody can meet: \($0)", post("Expect: \($0)\r\nContent-Length: 1", "x"),
                    .refused(417)
                )
            }
                + [
                    (
                        "another one on a second line",
                        post("Expect: 100-continue\r\nExpect: x\r\nContent-Length: 1", "x"), .refused(417)
                    ),
                    ("another one with GET", fields("Expect: x"), .refused(417)),
                    ("another one behind a request", get("/1") + fields("Expect: x"), .refused(417, after: ["GET /1"])),
                ])
        + rows(
            "9110 10.1.1", .must,
            [
                // "100 Continue" is never said of content that is not read.
                ("too much content", post("Expect: 100-continue\r\nContent-Length: 65537"), .refused(413)),
                ("a bad length", post("Expect: 100-continue\r\nContent-Length: x"), .refused(400)),
                (
                    "both lengths", post("Expect: 100-continue\r\nContent-Length: 1\r\nTransfer-Encoding: chunked"),
                    .refused(400)
                ),
                ("an unknown coding", post("Expect: 100-continue\r\nTransfer-Encoding: gzip, chunked"), .refused(501)),
                ("no Host", "POST / HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 1\r\n\r\n", .refused(400)),
                (
                    "an https target",
                    "POST https://a/ HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 1\r\n\r\n",
                    .refused(421)
                ),
            ])

    private static let begun = "Expect: 100-continue\r\nContent-Length: 3"

    static let interimAnswers =
        rows(
            "9110 10.1.1", .harden,
            [
                // It may be left out then.
                ("none for who has begun to send", post(begun, "a"), .incomplete()),
                (
                    "none for who has begun to send chunks",
                    post("Expect: 100-continue\r\nTransfer-Encoding: chunked", "3"), .incomplete()
                ),
            ])
        + rows(
            "9110 15.2", .must,
            [
                (
                    "none for HTTP/1.0", old("POST /", "Expect: 100-continue\r\nContent-Length: 3", "abc"),
                    .closes("POST / @ abc")
                ),
                (
                    "none for HTTP/1.0 that stays open",
                    old("POST /", "Connection: keep-alive\r\nExpect: 100-continue\r\nContent-Length: 3", "abc"),
                    .reads("POST / @ abc")
                ),
                (
                    "none for HTTP/1.0 before its content", old("POST /", "Expect: 100-continue\r\nContent-Length: 3"),
                    .incomplete()
                ),
                ("none for who does not ask", post("Content-Length: 3", "abc"), .reads("POST / abc")),
                ("none for who does not ask, before the content", post("Content-Length: 3"), .incomplete()),
            ])

    static let upgrades =
        rows(
            "9110 7.8", .must,
            [
                (
                    "h2c",
                    "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA"
                ), ("h2c without settings", "Connection: Upgrade\r\nUpgrade: h2c"),
                (
                    "websocket",
                    "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="
                ),
                ("TLS", "Connection: Upgrade\r\nUpgrade: TLS/1.3"),
                ("several", "Connection: upgrade\r\nUpgrade: h2c, websocket, TLS/1.0"),
                ("what nobody knows", "Connection: Upgrade\r\nUpgrade: x/1"), ("without the option", "Upgrade: h2c"),
                ("the option without it", "Connection: Upgrade"),
                ("HTTP/2.0", "Connection: Upgrade\r\nUpgrade: HTTP/2.0"),
                ("an empty one", "Connection: Upgrade\r\nUpgrade:"),
            ].map { ("Upgrade is passed over: \($0.0)", fields($0.1), .reads("GET /")) }
                + [
                    (
                        "Upgrade with content", post("Connection: Upgrade\r\nUpgrade: h2c\r\nContent-Length: 1", "x"),
                        .closes("POST / x")
                    ),
                    ("Upgrade in HTTP/1.0", old("GET /", "Connection: Upgrade\r\nUpgrade: h2c"), .closes("GET / @")),
                    (
                        "Upgrade with an expectation",
                        post(
                            "Connection: Upgrade\r\nUpgrade: h2c\r\nExpect: 100-continue\r\nContent-Length: 1",
                            "\(pause)x"), .closes("POST / x")
                    ),
                    ("Upgrade and close", fields("Connection: Upgrade, close\r\nUpgrade: h2c"), .closes("GET /")),
                    (
                        "OPTIONS * with Upgrade",
                        "OPTIONS * HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n",
                        .reads("OPTIONS *")
                    ),
                ])

    static let sizes =
        rows(
            "9110 5.4", .must,
            [
                ("a value of 20000 octets", fields("X: " + many("b", 20_000)), .refused(431)),
                ("a value of 200000 octets", fields("X: " + many("b", 200_000)), .refused(431)),
                ("a value without end", "GET / HTTP/1.1\r\nHost: a\r\nX: " + many("b", 100_000), .refused(431)),
                ("a name of 20000 octets", fields(many("n", 20_000) + ": b"), .refused(431)),
                ("a name without end", "GET / HTTP/1.1\r\nHost: a\r\n" + many("n", 100_000), .refused(431)),
                ("101 fields", fields(many("Y: b\r\n", 99) + "X: c"), .refused(431)),
                ("a thousand fields", fields(many("Y: b\r\n", 999) + "X: c"), .refused(431)),
                (
                    "a hundred fields that are too large together",
                    fields(many("Y: \(many("b", 300))\r\n", 90) + "X: c"), .refused(431)
                ),
                ("a Host of 20000 octets", host(many("a", 20_000)), .refused(431)),
                ("a hundred fields", fields(many("Y: b\r\n", 98) + "X: c"), .reads("GET / X=[c]")),
                (
                    "too many fields behind a request", get("/1") + fields(many("Y: b\r\n", 999) + "X: c"),
                    .refused(431, after: ["GET /1"])
                ),
            ])
        + rows(
            "9110 2.3", .should,
            [
                ("a cookie of 4096 octets", fields("Cookie: a=" + many("b", 4096)), .reads("GET /")),
                (
                    "fields of 12000 octets together", fields(many("Y: \(many("b", 200))\r\n", 58) + "X: c"),
                    .reads("GET / X=[c]")
                ),
            ])
}
