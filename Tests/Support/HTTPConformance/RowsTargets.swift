// Targets and Host: RFC 9112 section 3.2, RFC 9110 sections 4.2, 7.1, 7.2 and 7.4, RFC 3986.

extension Row {
    static let targets =
        rows(
            "9112 3.2.1", .must,
            [
                ("a path", get("/a/b"), .reads("GET /a/b")),
                ("a query", get("/a?b=c"), .reads("GET /a?b=c")),
                ("an empty query", get("/a?"), .reads("GET /a?")),
                ("a query with question marks", get("/a?b?c"), .reads("GET /a?b?c")),
                ("a query with slashes", get("/a?/b/c"), .reads("GET /a?/b/c")),
                ("escapes stay", get("/%41%2F%c3%A9"), .reads("GET /%41%2F%c3%A9")),
                ("an escape of the last octet", get("/%FF"), .reads("GET /%FF")),
                ("escapes in the query stay", get("/?a=%20%26%3D"), .reads("GET /?a=%20%26%3D")),
                ("sub-delimiters", get("/!$&'()*+,;="), .reads("GET /!$&'()*+,;=")),
                ("unreserved characters", get("/AZaz09-._~"), .reads("GET /AZaz09-._~")),
                ("colon and at", get("/a:b@c"), .reads("GET /a:b@c")),
                ("no path for a target", line("GET a/b HTTP/1.1"), .refused(400)),
                ("a query for a target", line("GET ?a HTTP/1.1"), .refused(400)),
            ])
        + rows(
            "9112 3.2.1", .robust,
            [
                ("two slashes at the start", get("//a/b"), .reads("GET //a/b")),
                ("empty segments", get("/a//b"), .reads("GET /a//b")),
                ("a slash at the end", get("/a/"), .reads("GET /a/")),
                ("a segment of a dot", get("/./a"), .reads("GET /./a")),
                ("segments of two dots are not resolved", get("/../a"), .reads("GET /../a")),
                ("escaped dots are not resolved", get("/%2e%2E/a"), .reads("GET /%2e%2E/a")),
                ("an absolute URI within a path", get("/http://b/c"), .reads("GET /http://b/c")),
                ("a path of 300 segments", get(many("/a", 300)), .reads("GET " + many("/a", 300))),
                ("a plus is a plus", get("/?a+b"), .reads("GET /?a+b")),
                ("an escaped NUL is a path like another", get("/%00"), .reads("GET /%00")),
                ("semicolons and commas", get("/a;b=c,d"), .reads("GET /a;b=c,d")),
                ("a query of ampersands", get("/?&&="), .reads("GET /?&&=")),
            ])
        + rows(
            "9112 3.2", .should,
            [
                ("a fragment", get("/a#b"), .refused(400)),
                ("a fragment behind the query", get("/a?b#c"), .refused(400)),
                ("an empty fragment", get("/#"), .refused(400)),
                ("an open escape at the end", get("/%"), .refused(400)),
                ("an escape of one digit", get("/%4"), .refused(400)),
                ("an escape of no digits", get("/%zz"), .refused(400)),
                ("an escape whose second is no digit", get("/%4g"), .refused(400)),
                ("an open escape in the query", get("/?a=%4"), .refused(400)),
                ("an escape of no digits in the query", get("/?%gg"), .refused(400)),
                ("an escape of an escape that is open", get("/%%41"), .refused(400)),
            ])
        + rows(
            "9112 3.2", .harden,
            each("\"<>\\^`{|}[]".utf8, "a character of no target in the path", .refused(400)) { get("/a\($0)b") }
                + each("\"<>\\^`{|}[]".utf8, "a character of no target in the query", .refused(400)) {
                    get("/a?b=\($0)")
                }
                + each([0x80, 0xA0, 0xC3, 0xE9, 0xFF], "no ASCII in the path", .refused(400)) { get("/a\($0)b") }
                + each([0x80, 0xA0, 0xC3, 0xE9, 0xFF], "no ASCII in the query", .refused(400)) { get("/?\($0)") })

    static let targetForms =
        rows(
            "9112 3.2.2", .must,
            [
                ("the absolute form is accepted", line("GET http://a/b?c HTTP/1.1"), .reads("GET /b?c")),
                ("its host replaces that of Host", line("GET http://b/c HTTP/1.1"), .reads("GET /c @b")),
                ("its port, too", line("GET http://b:8080/c HTTP/1.1"), .reads("GET /c @b:8080")),
                ("an address in brackets", line("GET http://[::1]:80/c HTTP/1.1"), .reads("GET /c @[::1]:80")),
                ("Host is needed all the same", "GET http://a/ HTTP/1.1\r\n\r\n", .refused(400)),
                ("one Host alone", "GET http://a/ HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n", .refused(400)),
                ("not in HTTP/1.0", old("GET http://b/c"), .closes("GET /c @b")),
                ("with any method", line("DELETE http://a/b HTTP/1.1"), .reads("DELETE /b")),
                (
                    "with content", "POST http://a/b HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\nx",
                    .reads("POST /b x")
                ),
            ])
        + rows(
            "9112 3.2.2", .robust,
            [
                ("no path means /", line("GET http://a HTTP/1.1"), .reads("GET /")),
                ("no path but a query", line("GET http://a?b HTTP/1.1"), .reads("GET /?b")),
                ("the scheme in capitals", line("GET HTTP://a/b HTTP/1.1"), .reads("GET /b")),
                ("the scheme in mixed case", line("GET hTTp://a/b HTTP/1.1"), .reads("GET /b")),
                ("a port that is empty", line("GET http://a:/b HTTP/1.1"), .reads("GET /b @a:")),
                (
                    "a Host of somebody else is passed over",
                    "GET http://a/b HTTP/1.1\r\nHost: other.example:99\r\n\r\n", .reads("GET /b")
                ),
                (
                    "OPTIONS of an absolute target with a path", line("OPTIONS http://a/b HTTP/1.1"),
                    .reads("OPTIONS /b")
                ),
            ])
        + rows(
            "9112 3.2.2", .harden,
            [("an impossible Host beside it", "GET http://a/b HTTP/1.1\r\nHost: a b\r\n\r\n", .refused(400))])
        + rows(
            "9110 4.2.1", .must,
            [
                ("no host", line("GET http:///a HTTP/1.1"), .refused(400)),
                ("no host but a port", line("GET http://:80/a HTTP/1.1"), .refused(400)),
                ("nothing behind the scheme", line("GET http:// HTTP/1.1"), .refused(400)),
                ("no host but a query", line("GET http://?a HTTP/1.1"), .refused(400)),
            ])
        + rows(
            "9110 4.2.2", .must,
            [
                ("no host with https", line("GET https:///a HTTP/1.1"), .refused(400)),
                ("nothing behind https", line("GET https:// HTTP/1.1"), .refused(400)),
            ])
        + rows(
            "9110 4.2.4", .should,
            [
                ("user information", line("GET http://u@a/ HTTP/1.1"), .refused(400)),
                ("a password", line("GET http://u:p@a/ HTTP/1.1"), .refused(400)),
                ("empty user information", line("GET http://@a/ HTTP/1.1"), .refused(400)),
                ("a trusted name before the at", line("GET http://a.example:80@evil.example/ HTTP/1.1"), .refused(400)),
                ("user information in Host", host("u@a"), .refused(400)),
                ("a password in Host", host("u:p@a"), .refused(400)),
            ])
        + rows(
            "9110 7.4", .must,
            [
                ("https over a connection that is not secured", line("GET https://a/ HTTP/1.1"), .refused(421)),
                ("https with a port", line("GET https://a:443/b HTTP/1.1"), .refused(421)),
                ("https in capitals", line("GET HTTPS://a/ HTTP/1.1"), .refused(421)),
                (
                    "https with content", "POST https://a/ HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\nx",
                    .refused(421)
                ),
                ("https in HTTP/1.0", old("GET https://a/"), .refused(421)),
                (
                    "https behind a request", get("/1") + line("GET https://a/2 HTTP/1.1"),
                    .refused(421, after: ["GET /1"])
                ),
                ("another scheme", line("GET ftp://a/ HTTP/1.1"), .refused(400)),
                ("the scheme of files", line("GET file:///etc/passwd HTTP/1.1"), .refused(400)),
                ("a name without authority", line("GET urn:a:b HTTP/1.1"), .refused(400)),
                ("a web socket", line("GET ws://a/ HTTP/1.1"), .refused(400)),
            ])
        + rows(
            "9112 3.2.2", .should,
            [
                ("a slash too few", line("GET http:/a/ HTTP/1.1"), .refused(400)),
                ("no colon", line("GET http//a/ HTTP/1.1"), .refused(400)),
                ("letters in the port", line("GET http://a:b/ HTTP/1.1"), .refused(400)),
                ("a port beyond 65535", line("GET http://a:65536/ HTTP/1.1"), .refused(400)),
                ("an open bracket", line("GET http://[::1/ HTTP/1.1"), .refused(400)),
                ("no address in brackets", line("GET http://[a]/ HTTP/1.1"), .refused(400)),
                ("a backslash for a slash", line("GET http:\\\\a\\ HTTP/1.1"), .refused(400)),
                ("a fragment", line("GET http://a/b#c HTTP/1.1"), .refused(400)),
                ("a fragment behind the host", line("GET http://a#b HTTP/1.1"), .refused(400)),
                ("an escape that is open in the host", line("GET http://a%4/ HTTP/1.1"), .refused(400)),
            ])
        + rows(
            "9112 3.2.4", .must,
            [
                ("OPTIONS *", line("OPTIONS * HTTP/1.1"), .reads("OPTIONS *")),
                (
                    "OPTIONS * with content", "OPTIONS * HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\nx",
                    .reads("OPTIONS * x")
                ),
                ("OPTIONS * in HTTP/1.0", old("OPTIONS *"), .closes("OPTIONS * @")),
                (
                    "OPTIONS of an absolute target without path means *", line("OPTIONS http://a HTTP/1.1"),
                    .reads("OPTIONS *")
                ),
                (
                    "OPTIONS of an absolute target with the path /", line("OPTIONS http://a/ HTTP/1.1"),
                    .reads("OPTIONS /")
                ),
            ])
        + rows(
            "9110 7.1", .must,
            ["GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "TRACE", "BREW"].map {
                ("an asterisk with \($0)", line("\($0) * HTTP/1.1"), .refused(400))
            }
                + ["GET", "HEAD", "POST", "OPTIONS"].map {
                    ("an authority with \($0)", line("\($0) a:80 HTTP/1.1"), .refused(400))
                }
                + [
                    ("an asterisk and more", line("OPTIONS *a HTTP/1.1"), .refused(400)),
                    ("an asterisk with a query", line("OPTIONS *?a HTTP/1.1"), .refused(400)),
                    ("two asterisks", line("OPTIONS ** HTTP/1.1"), .refused(400)),
                    ("a name for a target", line("GET a HTTP/1.1"), .refused(400)),
                ])

    private static let goodHosts = [
        "a.example", "a.example.", "A.EXAMPLE", "a-b.example", "xn--bcher-kva.example", "a:80", "a:", "a:1", "a:65535",
        "a:00080", "127.0.0.1", "127.0.0.1:8080",
        "999.1.1.1", "1.2.3", "a_b", "a~b", "%41", "a!$&'()*+;=", "[::]", "[::1]", "[::1]:8080", "[::1]:", "[1::]",
        "[1:2:3:4:5:6:7:8]", "[1::8]", "[1:2:3:4:5:6:7::]", "[::2:3:4:5:6:7:8]", "[::ffff:1.2.3.4]",
        "[1:2:3:4:5:6:1.2.3.4]", "[fE80::ABcd]", "[v1.a:b]", "[vF.!]", many("a", 255),
    ]

    private static let badHosts = [
        "a b", "a, b", "a,b c", "a/b", "a/", "/", "a?b", "a#b", "a\\b", "a\"", "\"a\"", "<a>", "a|b", "a^b", "a`b",
        "{a}", "http://a", "http://a/", "//a",
        "a:b", "a:80:80", "a:80x", "a:x80", "a:0x50", "a:-1", "a:+80", "a: 80", "a :80", "a:8 0", "a:65536", "a:99999",
        "a:4294967376", ":", ":80", "::1", "1:2:3",
        "a%", "a%4", "a%zz", "%", "[", "]", "[]", "[:]", "[::1", "::1]", "[::1]x", "[::1]:x", "[::1]80", "x[::1]",
        "[[::1]]",
        "[1:2:3:4:5:6:7]", "[1:2:3:4:5:6:7:8:9]", "[1::2::3]", "[12345::]", "[:::]", "[1:]", "[:1]", "[g::]",
        "[::1%25eth0]", "[::1%eth0]",
        "[::256.1.1.1]", "[::1.1.1]", "[::01.1.1.1]", "[1.2.3.4]", "[v.a]", "[v1.]", "[vg.a]", "[a]",
        "[1:2:3:4:5:6:7::8]",
        "[1:2:3:4:5:6:7:1.2.3.4]", "[::1.2.3.4.5]", "[::1]]", "[ ::1]", "a@b", "@", "@a", "a@", "a\tb", "*@a",
    ]

    static let hosts =
        rows(
            "9112 3.2", .must,
            [
                ("no Host", "GET / HTTP/1.1\r\n\r\n", .refused(400)),
                ("no Host among other fields", "GET / HTTP/1.1\r\nX: a\r\nY: b\r\n\r\n", .refused(400)),
                ("no Host, with content", "POST / HTTP/1.1\r\nContent-Length: 1\r\n\r\nx", .refused(400)),
                ("no Host, with OPTIONS *", "OPTIONS * HTTP/1.1\r\n\r\n", .refused(400)),
                ("no Host, behind a request", get("/1") + "GET /2 HTTP/1.1\r\n\r\n", .refused(400, after: ["GET /1"])),
                ("Host twice, different", fields("Host: b"), .refused(400)),
                ("Host twice, equal", fields("Host: a"), .refused(400)),
                ("Host twice, in another case", fields("HOST: a"), .refused(400)),
                ("Host twice, far apart", fields("X: b\r\nY: c\r\nhost: b"), .refused(400)),
                ("Host twice, the second empty", fields("Host:"), .refused(400)),
                ("Host three times", fields("Host: a\r\nHost: a"), .refused(400)),
                ("Host twice in HTTP/1.0", old("GET /", "Host: a\r\nHost: a"), .refused(400)),
                ("an invalid Host in HTTP/1.0", old("GET /", "Host: a b"), .refused(400)),
                ("Host last", "GET / HTTP/1.1\r\nX: b\r\nHost: a\r\n\r\n", .reads("GET / X=[b]")),
                ("host in lower case", "GET / HTTP/1.1\r\nhost: a\r\n\r\n", .reads("GET /")),
                ("HOST in capitals", "GET / HTTP/1.1\r\nHOST: a\r\n\r\n", .reads("GET /")),
                ("HTTP/1.0 needs no Host", old("GET /"), .closes("GET / @")),
                ("HTTP/1.0 may have one", old("GET /", "Host: b"), .closes("GET / @b")),
            ]
                + badHosts.map { ("an invalid Host: \($0)", host($0), .refused(400)) }
                + each([0x80, 0xA0, 0xC3, 0xE9, 0xFF], "no ASCII in Host", .refused(400)) { host("a\($0)b") })
        + rows("9110 7.2", .robust, goodHosts.map { ("a valid Host: \($0)", host($0), .reads("GET / @\($0)")) })
        + rows(
            "9112 3.2", .harden,
            [
                // The grammar lets it be empty, for targets without an authority; http has none such (RFC 9110 §4.2.1).
                ("an empty Host", "GET / HTTP/1.1\r\nHost:\r\n\r\n", .refused(400)),
                ("an empty Host with blanks", "GET / HTTP/1.1\r\nHost: \t \r\n\r\n", .refused(400)),
                ("an empty Host in HTTP/1.0", old("GET /", "Host:"), .refused(400)),
                ("a blank before the colon of a second Host", fields("Host : b"), .refused(400)),
                ("a second Host on a folded line", fields("X: b\r\n Host: c"), .refused(400)),
                ("NUL in Host", host("a\u{00}b"), .refused(400)),
                ("a vertical tab around Host", host("\u{0B}a"), .refused(400)),
            ])
}
