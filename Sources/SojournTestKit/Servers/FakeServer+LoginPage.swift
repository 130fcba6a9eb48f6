import Foundation
import SojournClient

/// A request for the login page of `FakeServer`.
struct FakeAuthorization {
    var redirectURI: String
    var state: String?
    var nonce: String?
    var challenge: String
    var keyThumbprint: String?
    var scope: String?
}

/// An authorization code. Times are milliseconds since 1970.
struct FakeCode {
    var authorization: FakeAuthorization
    var userID: String
    var madeAt: Int64
    /// The session for which it was exchanged, the `Idempotency-Key`, and the time.
    var exchange: (sessionID: String, child: Int, requestKey: String?, at: Int64)?
}

/// The login page: the parts of `/oauth/authorize`, of the form, and of the code grant on which the SDK relies.
extension FakeServer.World {
    /// Leads to the page.
    mutating func authorize(_ call: FakeCall) -> HTTPAnswer {
        guard let uri = call.text("redirect_uri"), call.text("client_id") == "mobile", redirectURIs.contains(uri) else {
            return .problem(400, "invalid_request")
        }
        let request = FakeAuthorization(
            redirectURI: uri, state: call.text("state"), nonce: call.text("nonce"),
            challenge: call.text("code_challenge") ?? "", keyThumbprint: call.text("dpop_jkt"),
            scope: call.text("scope").flatMap { knownScope($0)?.joined(separator: " ") })
        guard call.text("response_type") == "code", call.text("code_challenge_method") == "S256",
            request.challenge.count == 43
        else { return redirect(request, ["error": "invalid_request"]) }
        guard knownScope(call.text("scope")) != nil else { return redirect(request, ["error": "invalid_scope"]) }
        if call.text("prompt") == "none" { return redirect(request, ["error": "login_required"]) }
        let name = "page\(pages.count + 1)"
        pages[name] = request
        return HTTPAnswer(status: 303, fields: [HTTPMessageField("Location", "https://sojourn.test/login?r=\(name)")])
    }

    /// The page with its form.
    func loginPage(_ call: FakeCall) -> HTTPAnswer {
        guard let name = call.text("r"), pages[name] != nil else { return .problem(400, "invalid_request") }
        let html =
            refusal(ofMethod: "password") != nil
            ? "<p>No password here.</p>"
            : """
            <form method="post" action="/login/password"><input type="hidden" name="csrf" value="\(name)">
            <input type="hidden" name="r" value="\(name)"></form>
            """
        return HTTPAnswer(
            status: 200, fields: [HTTPMessageField("Content-Type", "text/html; charset=utf-8")], body: Array(html.utf8))
    }

    /// The answer to the form: the page again, or a code for the app.
    mutating func submitLoginPage(_ call: FakeCall, at now: Int64) -> HTTPAnswer {
        guard let name = call.text("r"), let request = pages[name], call.text("csrf") == name else {
            return .problem(400, "invalid_request")
        }
        guard refusal(ofMethod: "password") == nil, let user = call.text("username").flatMap(user(named:)),
            user.password == call.text("password"), loginRefusal(of: user) == nil
        else { return loginPage(call) }
        let code = "sjc_\(codes.count + 1)"
        codes[code] = FakeCode(authorization: request, userID: user.id, madeAt: now)
        return redirect(request, ["code": code])
    }

    private func redirect(_ request: FakeAuthorization, _ parameters: [String: String]) -> HTTPAnswer {
        var form = Form()
        for (name, value) in parameters { form.add(name, value) }
        form.add("state", request.state)
        form.add("iss", "https://sojourn.test")
        let query = String(decoding: form.bytes, as: UTF8.self)
        let separator = request.redirectURI.contains("?") ? "&" : "?"
        return HTTPAnswer(
            status: 303, fields: [HTTPMessageField("Location", request.redirectURI + separator + query)])
    }

    /// Exchanges a code. A retry gets the same session; another use of the code ends it.
    mutating func exchangeCode(_ call: FakeCall, at now: Int64) -> HTTPAnswer {
        guard let text = call.text("code"), let verifier = call.text("code_verifier"),
            let uri = call.text("redirect_uri")
        else { return .oauth(400, "invalid_request") }
        guard let code = codes[text], code.authorization.redirectURI == uri,
            code.authorization.challenge == Base64URL.encode(SmallCrypto.sha256(Array(verifier.utf8))),
            code.authorization.keyThumbprint == nil || call.provenKey != nil,
            let user = users.values.first(where: { $0.id == code.userID })
        else { return .oauth(400, "invalid_grant") }
        if let earlier = code.exchange {
            if let key = earlier.requestKey, key == call.idempotencyKey, now - earlier.at < 30_000,
                let session = sessions[earlier.sessionID], session.child == earlier.child,
                session.key == call.provenKey,
                ending(of: session, at: now) == nil
            {
                return withIDToken(granted(session, user, at: now), nonce: code.authorization.nonce)
            }
            end("code_reused", at: now) { $0.id == earlier.sessionID }
            return .oauth(400, "invalid_grant")
        }
        if refusal(ofMethod: "password") != nil {
            return .oauth(400, "unauthorized_client", reason: "login_method_not_allowed")
        }
        guard now - code.madeAt < 60_000, loginRefusal(of: user) == nil else { return .oauth(400, "invalid_grant") }
        let device = call.text("device_id") ?? "device"
        var asked = call
        asked.members.set("scope", code.authorization.scope)
        if let session = continued(asked, user, device: device, at: now) {
            let answer = goOn(session, call, user, by: "password", at: now)
            codes[text]?.exchange = (session.id, session.child, call.idempotencyKey, now)
            return withIDToken(answer, nonce: code.authorization.nonce)
        }
        let answer = begin(user, device: device, call, scope: code.authorization.scope, at: now)
        codes[text]?.exchange = ("session\(sessionCount)", 1, call.idempotencyKey, now)
        return withIDToken(answer, nonce: code.authorization.nonce)
    }

    /// The answer with an ID token, if the scope of its session has `openid`. Nothing is signed.
    func withIDToken(_ answer: HTTPAnswer, nonce: String? = nil) -> HTTPAnswer {
        guard answer.status == 200, var members = JSONValue(parsing: answer.body)?.members,
            let session = members.text("session_id").flatMap({ sessions[$0] }), has("openid", session)
        else { return answer }
        var claims: [String: JSONValue] = [
            "iss": .string("https://sojourn.test"), "aud": .string("mobile"), "sub": .string(session.userID),
            "sid": .string(session.id),
        ]
        claims.set("nonce", nonce)
        members["id_token"] = .string("e30.\(Base64URL.encode(JSONValue.object(claims).bytes)).")
        return HTTPAnswer(status: answer.status, fields: answer.fields, body: JSONValue.object(members).bytes)
    }
}
