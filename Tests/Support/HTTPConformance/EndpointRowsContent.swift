// Content, negotiation and authentication: RFC 9110 sections 8, 11 and 12.

extension EndpointRow {
    private static let json = "Content-Type: application/json\r\nContent-Length: 2"
    private static let form = "Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 12"

    private static let tokenChallenges = #"Bearer realm="sojourn", DPoP realm="sojourn", algs="ES256 EdDSA""#

    static let content =
        rows(
            "9110 8.4", .should,
            ["gzip", "x-gzip", "br", "deflate", "identity, gzip", "x"].map {
                (
                    "content in a coding: \($0)", ask("POST /v1/login", "Content-Encoding: \($0)\r\n\(json)", "{}"),
                    [.answer(415, "Accept-Encoding: identity")]
                )
            }
                + [
                    (
                        "a form in a coding",
                        ask("POST /oauth/token", "Content-Encoding: gzip\r\n\(form)", "grant_type=x"),
                        [.answer(415, "Accept-Encoding: identity")]
                    ),
                    (
                        "content in no coding",
                        ask("POST /oauth/token", "Content-Encoding: identity\r\n\(form)", "grant_type=x"),
                        [.answer(400, "!Accept-Encoding")]
                    ),
                ])
        + rows(
            "9110 12.5.3", .must,
            [
                (
                    "415 for another reason says nothing of codings",
                    ask("POST /v1/login", "Content-Type: text/plain\r\nContent-Length: 2", "{}"),
                    [.answer(415, "!Accept-Encoding")]
                ),
                (
                    "415 without a type says nothing of codings", ask("POST /v1/login", "Content-Length: 2", "{}"),
                    [.answer(415, "!Accept-Encoding")]
                ),
            ])
        + rows(
            "9110 8.7", .must,
            [
                (
                    "Content-Location changes nothing",
                    ask("POST /oauth/token", "Content-Location: /healthz\r\n\(form)", "grant_type=x"), [.answer(400)]
                )
            ])
        + rows(
            "9110 9.3.1", .robust,
            [
                (
                    "content with GET changes nothing",
                    ask("GET /healthz", "Content-Length: 3", "abc") + ask("GET /healthz"), [.answer(200), .answer(200)]
                ),
                (
                    "chunked content with HEAD changes nothing",
                    ask("HEAD /healthz", "Transfer-Encoding: chunked", "1\r\nx\r\n0\r\n\r\n") + ask("GET /healthz"),
                    [.answer(200), .answer(200)]
                ),
                ("a query changes nothing", ask("GET /healthz?a=b&c"), [.answer(200, content: "ok\n")]),
                ("an absolute target", ask("GET http://other.example/healthz"), [.answer(200, content: "ok\n")]),
            ])
        + rows(
            "9110 12.1", .robust,
            [
                "Accept: application/xml", "Accept: */*;q=0", "Accept: text/plain;q=0.001", "Accept-Charset: x",
                "Accept-Language: tlh", "Accept-Encoding: gzip, br", "Accept-Encoding: *;q=0",
                "Accept-Encoding: identity;q=0", "Accept:", "Accept: ;",
            ].map {
                (
                    "what cannot be served differently is served: \($0)", ask("GET /healthz", $0),
                    [.answer(200, "!Content-Encoding", content: "ok\n")]
                )
            })

    static let authentication =
        rows(
            "9110 11.6.1", .must,
            [
                ("no credentials", ask("GET /v1/me"), [.answer(401, "WWW-Authenticate:")]),
                ("a wrong token", ask("GET /v1/me", "Authorization: Bearer x"), [.answer(401, "WWW-Authenticate:")]),
                (
                    "an unknown scheme", ask("GET /v1/me", "Authorization: Digest x"),
                    [.answer(401, "WWW-Authenticate:")]
                ),
                (
                    "no credentials to change",
                    ask("PATCH /v1/me", "Content-Type: application/json\r\nContent-Length: 2", "{}"),
                    [.answer(401, "WWW-Authenticate:")]
                ),
                (
                    "401 does not close", ask("GET /v1/me") + ask("GET /healthz"),
                    [.answer(401, "!Connection"), .answer(200)]
                ),
            ])
        + rows(
            "9110 15.5.2", .must,
            [
                (
                    "a challenge that applies", ask("GET /v1/me"),
                    [.answer(401, "WWW-Authenticate: \(tokenChallenges)")]
                ),
                (
                    "a challenge that applies to clients", ask("POST /oauth/introspect", form, "grant_type=x"),
                    [.answer(401, "WWW-Authenticate: Basic realm=\"sojourn\", charset=\"UTF-8\"")]
                ),
            ])
        + rows(
            "9110 11.5", .must,
            [
                (
                    "a realm is quoted", ask("GET /v1/me/devices"),
                    [.answer(401, "WWW-Authenticate: \(tokenChallenges)")]
                )
            ])
        + rows(
            "9110 12.5.3", .should,
            [
                (
                    "nothing is coded, whatever is acceptable",
                    ask("GET /oauth/jwks", "Accept-Encoding: br, gzip;q=0.5, identity;q=0"),
                    [.answer(200, "!Content-Encoding")]
                )
            ])
        + rows(
            "9110 10.1.2", .should,
            [("From proves nothing", ask("GET /v1/me", "From: admin@a.example"), [.answer(401)])])
        + rows(
            "9110 3.3", .must,
            [
                (
                    "one request proves nothing for the next",
                    ask("GET /v1/me", "Authorization: Bearer x") + ask("GET /v1/me"),
                    [.answer(401, "WWW-Authenticate:"), .answer(401, "WWW-Authenticate: \(tokenChallenges)")]
                )
            ])
        + rows(
            "9110 11.4", .should,
            [
                (
                    "the name of a scheme has any case", ask("GET /v1/me", "Authorization: bEARER x"),
                    [.answer(401, "WWW-Authenticate:")]
                )
            ])
}
