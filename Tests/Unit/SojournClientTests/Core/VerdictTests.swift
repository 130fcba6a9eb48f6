import Repository
import SojournClient
import Testing

/// Which answers end a session: exactly two rows, whatever else a server, a proxy or a portal sends.
struct VerdictTests {
    /// A body, and what it says.
    struct Body: Sendable {
        var text: String
        /// The reason of the end that the body announces at 400 and 401; nil: it announces none.
        var ending: String?
        var isTokens = false
    }

    static let words = [
        "malformed", "unknown_session", "logged_out", "replaced", "revoked_by_user", "revoked_by_admin",
        "password_changed", "idle_expired", "max_lifetime_reached", "refresh_token_reused", "revoked_by_provider",
        "recheck_lost", "user_deleted", "login_disabled_by_user", "login_disabled_by_admin", "device_mismatch",
        "binding_mismatch", "invalid_assertion", "insufficient_user_authentication", "invalid_credentials",
        "unauthorized_client", "invalid_id_token", "invalid_token", "unauthenticated", "use_dpop_nonce",
        "invalid_dpop_proof", "invalid_client", "invalid_request", "invalid_grant", "a_word_of_tomorrow",
    ]

    static let bodies: [Body] = {
        var bodies: [Body] = []
        for word in words {
            for (member, text) in [
                ("code", #""code": "\#(word)""#),
                ("reason", #""error": "invalid_grant", "reason": "\#(word)""#),
                ("error", #""error": "\#(word)""#),
            ] {
                let odd = ["replaced", "user_deleted", "binding_mismatch"].contains(word) || Lane.isFull
                for reauthenticate in ["true", "false", "absent"] + (odd ? [#""true""#, "1", "null", "[true]"] : []) {
                    let isFinal =
                        member != "error"
                        && (reauthenticate == "true" || (reauthenticate == "false" && word == "user_deleted"))
                    let said = reauthenticate == "absent" ? "" : #", "reauthenticate": \#(reauthenticate)"#
                    bodies.append(Body(text: "{\(text)\(said)}", ending: isFinal ? word : nil))
                }
            }
        }
        let tokens = #"{"access_token": "a", "issued_at": 5, "expires_at": 9, "reauthenticate": true}"#
        bodies.append(Body(text: tokens, isTokens: true))
        bodies += [
            "", " ", "<html><body>reauthenticate: true</body></html>", "null", "true", "[]", "{}", "\"code\"",
            #"[{"code": "replaced", "reauthenticate": true}]"#, #"{"reauthenticate": true}"#,
            #"{"code": "", "reauthenticate": true}"#, #"{"code": 7, "reauthenticate": true}"#,
            #"{"code": null, "reauthenticate": true}"#, #"{"Code": "replaced", "Reauthenticate": true}"#,
            #"{"error": {"code": "replaced", "reauthenticate": true}}"#, #"{"access_token": "a"}"#,
            #"{"access_token": 7, "issued_at": 5}"#, #"{"issued_at": 5}"#, #"{"message": "Unauthorized"}"#,
        ].map { Body(text: $0) }
        return bodies
    }()

    static let fields: [[HTTPMessageField]] = [
        [], [HTTPMessageField("Content-Type", "text/html")],
        [HTTPMessageField("Content-Type", "application/problem+json"), HTTPMessageField("Retry-After", "7")],
        [HTTPMessageField("WWW-Authenticate", "Bearer error=\"invalid_token\""), HTTPMessageField("Age", "3")],
    ]

    static let statuses = Lane.cases(
        push: [101, 200, 204, 302, 400, 401, 403, 404, 408, 429, 500, 503],
        full: Array(100...110) + Array(200...210) + Array(300...310) + Array(400...451) + Array(500...511))

    @Test func exactlyTheListedRows_endASession() {
        var (endings, sets) = (0, 0)
        for body in Self.bodies {
            let bytes = Array(body.text.utf8)
            for status in Self.statuses {
                sets += 1
                // Every field beside every body takes seconds: that is for the full lane.
                let fields = Lane.isFull ? Self.fields : [Self.fields[sets % Self.fields.count]]
                for fields in fields {
                    let verdict = Verdict<TokenAnswer>(of: HTTPAnswer(status: status, fields: fields, body: bytes))
                    var expected: EndReason?
                    if status == 400 || status == 401 { expected = body.ending.map(EndReason.init) }
                    if expected != nil { endings += 1 }
                    #expect(verdict.ending == expected, "\(status) \(body.text)")
                    #expect(verdict.isGranted == (status == 200 && body.isTokens), "\(status) \(body.text)")
                    if status >= 500 || status < 200 || status == 408 || status == 429 {
                        #expect(verdict.isUnreachable, "\(status) \(body.text)")
                    }
                }
            }
        }
        // Each word, in two forms, at two statuses; and user_deleted once more, with false.
        #expect(endings == (Self.words.count + 1) * 2 * 2 * (Lane.isFull ? Self.fields.count : 1))
    }

    @Test func answerThatIsCutOff_endsNothing() {
        let whole = Array(#"{"code": "replaced", "reauthenticate": true}"#.utf8)
        for length in whole.indices {
            let verdict = Verdict<TokenAnswer>(of: HTTPAnswer(status: 401, body: Array(whole[..<length])))
            #expect(verdict.isUnreachable)
        }
        #expect(Verdict<TokenAnswer>(of: HTTPAnswer(status: 401, body: whole)).ending == .replaced)
    }

    @Test func mismatchOfTheKey_isFinal_onlyIfTheKeyIsKnownToBeGone() {
        for status in 400...403 {
            for reauthenticate in ["false", "\"false\""] {
                let body = Array(#"{"code": "binding_mismatch", "reauthenticate": \#(reauthenticate)}"#.utf8)
                let answer = HTTPAnswer(status: status, body: body)
                let isFinal = status < 402 && reauthenticate == "false"
                #expect(Verdict<TokenAnswer>(of: answer).ending == nil)
                #expect(Verdict<TokenAnswer>(of: answer, isKeyGone: true).ending == (isFinal ? .keyLost : nil))
            }
        }
        let other = HTTPAnswer(status: 401, body: Array(#"{"code": "device_mismatch", "reauthenticate": false}"#.utf8))
        #expect(Verdict<TokenAnswer>(of: other, isKeyGone: true).ending == nil)
    }

    @Test(arguments: [
        ("login_disabled_by_user", "suspended"), ("login_disabled_by_admin", "suspended"),
        ("device_mismatch", "suspended"), ("binding_mismatch", "suspended"),
        ("insufficient_user_authentication", "presence"), ("invalid_assertion", "signAgain"),
        ("use_dpop_nonce", "signAgain"), ("invalid_dpop_proof", "signAgain"), ("invalid_client", "misconfigured"),
        ("unauthorized_client", "misconfigured"), ("invalid_request", "refused"), ("invalid_scope", "refused"),
        ("a_word_of_tomorrow", "refused"),
    ])
    func otherRefusals_keepTheSession(word: String, kind: String) {
        let body = Array(
            #"{"code": "\#(word)", "detail": "Why.", "reauthenticate": false, "acr_values": "presence password"}"#.utf8)
        for status in [400, 401] {
            switch Verdict<TokenAnswer>(of: HTTPAnswer(status: status, body: body)) {
            case .suspended(let suspension): #expect(kind == "suspended" && suspension.rawValue == word)
            case .presenceRequired(let requirement):
                #expect(kind == "presence" && requirement.ways == ["presence", "password"])
            case .signAgain: #expect(kind == "signAgain")
            case .misconfigured(let fault, let detail):
                #expect(kind == "misconfigured" && fault == word && detail == "Why.")
            case .refused(let refusal):
                #expect(kind == "refused" && refusal.code == word && refusal.detail == "Why.")
            case .granted, .ended, .secondFactorRequired, .unreachable: Issue.record("\(word)")
            }
        }
    }

    @Test func waitOfTheServer_isRead() {
        func wait(_ value: String, date: String? = nil) -> Int64? {
            var fields = [HTTPMessageField("retry-after", value)]
            if let date { fields.append(HTTPMessageField("Date", date)) }
            return HTTPAnswer(status: 503, fields: fields).retryAfter
        }
        #expect(wait("7") == 7)
        #expect(wait("0") == 0)
        #expect(wait("-1") == nil)
        #expect(wait("soon") == nil)
        #expect(wait("999999999") == RetrySchedule.retryAfterMax)
        let date = "Sun, 06 Nov 1994 08:49:37 GMT"
        #expect(wait("Sun, 06 Nov 1994 08:50:00 GMT", date: date) == 23)
        #expect(wait("Sun, 06 Nov 1994 08:40:00 GMT", date: date) == 0)
        #expect(wait("Sun, 06 Nov 1994 08:50:00 GMT") == nil)
    }
}

extension Verdict {
    var ending: EndReason? { if case .ended(let reason) = self { reason } else { nil } }
    var isGranted: Bool { if case .granted = self { true } else { false } }
    var isUnreachable: Bool { if case .unreachable = self { true } else { false } }
}
