// Conditional and range requests: RFC 9110 sections 13 and 14.

extension EndpointRow {
    private static let keys = "/oauth/jwks"

    static let conditions =
        rows(
            "9110 13.1.3", .must,
            [
                ("If-Modified-Since without a date of modification", "Sun, 06 Nov 1994 08:49:37 GMT"),
                ("in the future", "Fri, 31 Dec 2999 23:59:59 GMT"),
                ("in the form of RFC 850", "Sunday, 06-Nov-94 08:49:37 GMT"),
                ("in the form of asctime", "Sun Nov  6 08:49:37 1994"), ("that is no date", "yesterday"),
                ("of two dates", "Sun, 06 Nov 1994 08:49:37 GMT, Sun, 06 Nov 1994 08:49:37 GMT"), ("that is empty", ""),
            ].map {
                (
                    "If-Modified-Since is ignored: \($0.0)", ask("GET \(keys)", "If-Modified-Since: \($0.1)"),
                    [.answer(200)]
                )
            })
        + rows(
            "9110 13.1.4", .must,
            ["Sun, 06 Nov 1994 08:49:37 GMT", "Fri, 31 Dec 2999 23:59:59 GMT", "Sun Nov  6 08:49:37 1994", "x"].map {
                (
                    "If-Unmodified-Since without a date of modification is ignored: \($0)",
                    ask("GET \(keys)", "If-Unmodified-Since: \($0)"), [.answer(200)]
                )
            })
        + rows(
            "9110 13.1.2", .must,
            [
                (
                    "If-None-Match: * with GET", ask("GET \(keys)", "If-None-Match: *"),
                    [.answer(304, "ETag:", "Cache-Control:", "Date:", "!Content-Length", "!Content-Type", content: "")]
                ),
                (
                    "If-None-Match: * with HEAD", ask("HEAD \(keys)", "If-None-Match: *"),
                    [.answer(304, "ETag:", content: "")]
                ),
                (
                    "If-None-Match: * without an entity tag", ask("GET /healthz", "If-None-Match: *"),
                    [.answer(304, "!Content-Length", content: "")]
                ),
                (
                    "304, and the next answer follows", ask("GET \(keys)", "If-None-Match: *") + ask("GET /healthz"),
                    [.answer(304), .answer(200, content: "ok\n")]
                ),
                ("If-None-Match of another tag", ask("GET \(keys)", "If-None-Match: \"x\""), [.answer(200, "ETag:")]),
                ("If-None-Match of another weak tag", ask("GET \(keys)", "If-None-Match: W/\"x\""), [.answer(200)]),
                (
                    "If-None-Match of several tags", ask("GET \(keys)", "If-None-Match: \"x\", W/\"y,z\", \"\""),
                    [.answer(200)]
                ),
                ("If-None-Match that is none", ask("GET \(keys)", "If-None-Match: x"), [.answer(200)]),
                ("If-None-Match that is empty", ask("GET \(keys)", "If-None-Match:"), [.answer(200)]),
            ])
        + rows(
            "9110 13.1.1", .must,
            [
                ("If-Match: *", ask("GET \(keys)", "If-Match: *"), [.answer(200)]),
                (
                    "If-Match of another tag", ask("GET \(keys)", "If-Match: \"x\""),
                    [.answer(412, "Content-Type: application/problem+json")]
                ),
                (
                    "If-Match of another tag with HEAD", ask("HEAD \(keys)", "If-Match: \"x\"") + ask("GET /healthz"),
                    [.answer(412), .answer(200)]
                ),
                ("If-Match of several tags", ask("GET \(keys)", "If-Match: \"x\", \"y\""), [.answer(412)]),
                ("If-Match over two lines", ask("GET \(keys)", "If-Match: \"x\"\r\nIf-Match: \"y\""), [.answer(412)]),
                ("If-Match that is empty", ask("GET \(keys)", "If-Match:"), [.answer(412)]),
                ("If-Match without an entity tag", ask("GET /healthz", "If-Match: \"x\""), [.answer(412)]),
            ])
        + rows(
            "9110 13.2.2", .must,
            [
                (
                    "If-None-Match beats If-Modified-Since",
                    ask("GET \(keys)", "If-None-Match: \"x\"\r\nIf-Modified-Since: Fri, 31 Dec 2999 23:59:59 GMT"),
                    [.answer(200)]
                ),
                (
                    "If-Match beats If-Unmodified-Since",
                    ask("GET \(keys)", "If-Match: *\r\nIf-Unmodified-Since: Sun, 06 Nov 1994 08:49:37 GMT"),
                    [.answer(200)]
                ),
                (
                    "If-Match comes before If-None-Match",
                    ask("GET \(keys)", "If-None-Match: *\r\nIf-Match: \"x\""), [.answer(412)]
                ),
                (
                    "If-None-Match follows If-Match", ask("GET \(keys)", "If-None-Match: *\r\nIf-Match: *"),
                    [.answer(304)]
                ),
            ])
        + rows(
            "9110 15.4.5", .must,
            [
                (
                    "304 has what a cache needs",
                    ask("GET \(keys)", "If-None-Match: *"),
                    [.answer(304, "ETag:", "Cache-Control: public, max-age=300", "Date:")]
                )
            ])
        + rows(
            "9110 15.4.5", .should,
            [
                (
                    "304 has no more", ask("GET \(keys)", "If-None-Match: *"),
                    [.answer(304, "!Content-Type", "!Content-Encoding", "!Content-Language", "!Content-Range")]
                )
            ])
        + rows(
            "9110 13.2.1", .must,
            [
                (
                    "conditions of what is not there", ask("GET /nothing", "If-Match: \"x\"\r\nIf-None-Match: *"),
                    [.answer(404)]
                ),
                ("conditions of what is not allowed", ask("PUT /healthz", "If-Match: \"x\""), [.answer(405)]),
                ("conditions without credentials", ask("GET /v1/me", "If-None-Match: *"), [.answer(401)]),
                ("conditions of a change without credentials", ask("PATCH /v1/me", "If-Match: \"x\""), [.answer(401)]),
                (
                    "conditions with OPTIONS", ask("OPTIONS /healthz", "If-Match: \"x\"\r\nIf-None-Match: *"),
                    [.answer(204)]
                ),
                ("conditions with OPTIONS *", ask("OPTIONS *", "If-Match: \"x\""), [.answer(204)]),
                ("conditions with TRACE", ask("TRACE /healthz", "If-Match: \"x\""), [.answer(405)]),
                (
                    "conditions where a request selects nothing",
                    ask(
                        "POST /oauth/token",
                        "If-None-Match: *\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 12",
                        "grant_type=x"), [.answer(400)]
                ),
            ])

    static let ranges =
        rows(
            "9110 14.2", .must,
            [
                "bytes=0-0", "bytes=-1", "bytes=999-", "bytes=0-0,2-2", "lines=1-2", "bytes=x", "bytes", "",
                "bytes=9999999999999999999999-",
            ].map {
                (
                    "Range is ignored: \($0)", ask("GET /healthz", "Range: \($0)"),
                    [.answer(200, "!Content-Range", content: "ok\n")]
                )
            }
                + [
                    (
                        "Range is ignored with HEAD", ask("HEAD /healthz", "Range: bytes=0-0"),
                        [.answer(200, "Content-Length: 3")]
                    ),
                    ("Range is ignored with OPTIONS", ask("OPTIONS /healthz", "Range: bytes=0-0"), [.answer(204)]),
                    (
                        "Range is ignored with a method that nobody knows", ask("BREW /healthz", "Range: bytes=0-0"),
                        [.answer(501)]
                    ),
                ])
        + rows(
            "9110 13.1.5", .must,
            [
                (
                    "If-Range without Range is ignored", ask("GET /healthz", "If-Range: \"x\""),
                    [.answer(200, content: "ok\n")]
                ),
                (
                    "If-Range with Range is ignored", ask("GET /healthz", "If-Range: \"x\"\r\nRange: bytes=0-0"),
                    [.answer(200, content: "ok\n")]
                ),
                (
                    "If-Range of a date is ignored",
                    ask("GET \(keys)", "If-Range: Sun, 06 Nov 1994 08:49:37 GMT\r\nRange: bytes=0-0"), [.answer(200)]
                ),
            ])
        + rows(
            "9110 14.4", .must,
            [
                (
                    "Content-Range with GET is ignored", ask("GET /healthz", "Content-Range: bytes 0-0/3"),
                    [.answer(200)]
                ),
                (
                    "Content-Range with OPTIONS is ignored", ask("OPTIONS *", "Content-Range: bytes 0-0/3"),
                    [.answer(204)]
                ),
            ])
        + rows(
            "9110 14.5", .should,
            [
                (
                    "Content-Range with PUT",
                    ask(
                        "PUT /v1/me/password",
                        "Content-Range: bytes 0-1/3\r\nContent-Type: application/json\r\nContent-Length: 2", "{}"),
                    [.answer(400)]
                )
            ])
}
