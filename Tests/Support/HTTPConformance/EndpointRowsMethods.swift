// Methods, and what is and is not there: RFC 9110 sections 6.6, 8.6, 9, 10 and 15.

extension EndpointRow {
    private static let onlyGET = "Allow: GET, HEAD, OPTIONS"
    private static let onlyPOST = "Allow: OPTIONS, POST"

    static let methods =
        rows(
            "9110 10.2.1", .must,
            ["POST", "PUT", "DELETE", "PATCH", "TRACE"].map {
                (
                    "\($0) where only GET is", ask("\($0) /healthz"),
                    [.answer(405, onlyGET, "Content-Type: application/problem+json")]
                )
            }
                + ["GET", "PUT", "DELETE", "PATCH", "TRACE", "HEAD"].map {
                    ("\($0) where only POST is", ask("\($0) /v1/login"), [.answer(405, onlyPOST)])
                }
                + ["GET", "PUT", "DELETE", "PATCH", "TRACE", "HEAD"].map {
                    ("\($0) at the token endpoint", ask("\($0) /oauth/token"), [.answer(405, onlyPOST)])
                }
                + [
                    (
                        "POST where GET, PATCH and DELETE are", ask("POST /v1/me"),
                        [.answer(405, "Allow: DELETE, GET, HEAD, OPTIONS, PATCH")]
                    ),
                    (
                        "405 does not close", ask("PUT /healthz") + ask("GET /healthz"),
                        [.answer(405, onlyGET, "!Connection"), .answer(200)]
                    ),
                    (
                        "405 with content reads it",
                        ask("POST /healthz", "Content-Length: 3", "abc") + ask("GET /healthz"),
                        [.answer(405), .answer(200)]
                    ),
                    (
                        "405 with chunked content reads it",
                        ask("PUT /healthz", "Transfer-Encoding: chunked", "1\r\nx\r\n0\r\n\r\n") + ask("GET /healthz"),
                        [.answer(405), .answer(200)]
                    ),
                ])
        + rows(
            "9110 9.2.1", .must,
            [
                "/v1/login", "/v1/refresh", "/v1/logout", "/v1/password-reset", "/oauth/token", "/oauth/revoke",
                "/oauth/introspect", "/v1/me/password",
            ].map { ("a safe method does nothing: \($0)", ask("GET \($0)"), [.answer(405, "Allow:")]) })
        + rows(
            "9110 15.5.6", .must,
            [
                (
                    "all methods of the path, and those alone", ask("POST /v1/me/devices"),
                    [.answer(405, "Allow: DELETE, GET, HEAD, OPTIONS")]
                ),
                (
                    "all methods of a path with a parameter", ask("POST /v1/me/devices/x"),
                    [.answer(405, "Allow: DELETE, OPTIONS, PATCH")]
                ),
            ])
        + rows(
            "9110 9.1", .must,
            [
                (
                    "GET is supported", ask("GET /healthz"),
                    [.answer(200, "Content-Length:", "Content-Type:", "Date:", content: "ok\n")]
                ),
                (
                    "HEAD is supported", ask("HEAD /healthz"),
                    [.answer(200, "Content-Length: 3", "Content-Type:", "Date:")]
                ),
                ("HEAD of an absolute target", ask("HEAD http://a/healthz"), [.answer(200, "Content-Length: 3")]),
            ])
        + rows(
            "9110 9.1", .should,
            ["BREW", "PROPFIND", "get", "Get", "POSTS", "M-SEARCH", "X"].map {
                (
                    "\($0) is not implemented", ask("\($0) /healthz"),
                    [.answer(501, "Content-Type: application/problem+json")]
                )
            }
                + ["BREW", "get"].map { ("\($0) of nothing", ask("\($0) /nothing"), [.answer(501)]) }
                + [
                    (
                        "501 does not close", ask("BREW /healthz") + ask("GET /healthz"),
                        [.answer(501, "!Connection"), .answer(200)]
                    ),
                    (
                        "501 with content reads it",
                        ask("BREW /healthz", "Content-Length: 3", "abc") + ask("GET /healthz"),
                        [.answer(501), .answer(200)]
                    ),
                ])
        + rows(
            "9110 9.3.7", .should,
            [
                (
                    "OPTIONS * says what there is", ask("OPTIONS *"),
                    [
                        .answer(
                            204, "Allow: DELETE, GET, HEAD, OPTIONS, PATCH, POST, PUT", "!Content-Length", content: "")
                    ]
                ),
                (
                    "OPTIONS of an absolute target without path", ask("OPTIONS http://a"),
                    [.answer(204, "Allow: DELETE, GET, HEAD, OPTIONS, PATCH, POST, PUT")]
                ),
                ("OPTIONS of what can be read", ask("OPTIONS /healthz"), [.answer(204, onlyGET, content: "")]),
                ("OPTIONS of what can be posted to", ask("OPTIONS /v1/login"), [.answer(204, onlyPOST)]),
                ("OPTIONS of the token endpoint", ask("OPTIONS /oauth/token"), [.answer(204, onlyPOST)]),
                ("OPTIONS of nothing", ask("OPTIONS /nothing"), [.answer(404)]),
                (
                    "OPTIONS with content",
                    ask("OPTIONS /healthz", "Content-Length: 3\r\nContent-Type: text/plain", "abc")
                        + ask("GET /healthz"), [.answer(204, onlyGET), .answer(200)]
                ),
                ("OPTIONS with Max-Forwards: 0", ask("OPTIONS *", "Max-Forwards: 0"), [.answer(204, "Allow:")]),
                ("OPTIONS with Max-Forwards: 5", ask("OPTIONS /healthz", "Max-Forwards: 5"), [.answer(204, onlyGET)]),
            ])
        + rows(
            "9110 9.3.8", .harden,
            [
                ("TRACE reflects nothing", ask("TRACE /healthz", "Cookie: secret=1"), [.answer(405, onlyGET)]),
                (
                    "TRACE with Max-Forwards: 0 reflects nothing", ask("TRACE /healthz", "Max-Forwards: 0"),
                    [.answer(405)]
                ),
                ("TRACE of nothing", ask("TRACE /nothing"), [.answer(404)]),
            ])

    static let representations =
        rows(
            "9110 15.5", .should,
            [
                (
                    "nothing is there", ask("GET /nothing"),
                    [.answer(404, "Content-Type: application/problem+json", "Date:", "!Connection")]
                ),
                (
                    "nothing is there for HEAD", ask("HEAD /nothing"),
                    [.answer(404, "Content-Type: application/problem+json", "Content-Length:")]
                ),
                (
                    "nothing is there for POST with content",
                    ask("POST /nothing", "Content-Length: 3", "abc") + ask("GET /healthz"),
                    [.answer(404), .answer(200)]
                ),
                ("nothing is there for DELETE", ask("DELETE /nothing"), [.answer(404)]),
                ("paths are case-sensitive", ask("GET /HEALTHZ"), [.answer(404)]),
                ("dots are not resolved", ask("GET /x/../healthz"), [.answer(404)]),
                ("a slash at the end is another path", ask("GET /healthz/"), [.answer(404)]),
                ("an escaped NUL is another path", ask("GET /healthz%00"), [.answer(404)]),
                ("a backslash, escaped", ask("GET /%5Chealthz"), [.answer(404)]),
            ])
        + rows("9110 4.2.3", .should, [("escaped letters are another path", ask("GET /%68ealthz"), [.answer(404)])])
        + rows(
            "9110 9.3.2", .must,
            [
                (
                    "HEAD has no content, so that the next answer follows", ask("HEAD /healthz") + ask("GET /healthz"),
                    [.answer(200), .answer(200, content: "ok\n")]
                ),
                (
                    "HEAD of nothing has no content", ask("HEAD /nothing") + ask("GET /healthz"),
                    [.answer(404), .answer(200, content: "ok\n")]
                ),
                (
                    "HEAD that is not allowed has no content", ask("HEAD /v1/login") + ask("GET /healthz"),
                    [.answer(405), .answer(200, content: "ok\n")]
                ),
                (
                    "HEAD without credentials has no content", ask("HEAD /v1/me") + ask("GET /healthz"),
                    [.answer(401), .answer(200, content: "ok\n")]
                ),
            ])
        + rows(
            "9110 8.6", .must,
            [
                (
                    "204 has no Content-Length", ask("OPTIONS /healthz"),
                    [.answer(204, "!Content-Length", "!Transfer-Encoding", content: "")]
                )
            ])
        + rows(
            "9112 6.1", .must,
            [
                (
                    "no Transfer-Encoding for HTTP/1.0", "GET /healthz HTTP/1.0\r\nConnection: keep-alive\r\n\r\n",
                    [.answer(200, "!Transfer-Encoding", "Content-Length: 3", "Connection: keep-alive")]
                )
            ])
        + rows(
            "9110 6.6.1", .must,
            [
                ("a Date with 2xx", ask("GET /healthz"), [.answer(200, "Date:")]),
                ("a Date with 204", ask("OPTIONS *"), [.answer(204, "Date:")]),
                ("a Date with 404", ask("GET /nothing"), [.answer(404, "Date:")]),
                ("a Date with 405", ask("PUT /healthz"), [.answer(405, "Date:")]),
                ("a Date with 401", ask("GET /v1/me"), [.answer(401, "Date:")]),
            ])
        + rows(
            "9110 10.2.4", .should,
            [("no word on the software", ask("GET /healthz"), [.answer(200, "!Server", "!X-Powered-By", "!Via")])])
}
