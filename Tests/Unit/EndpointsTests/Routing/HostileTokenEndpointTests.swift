import Cryptography
import HTTP
import JOSE
import Sessions
import Testing

@testable import Endpoints

/// Every hostile token at every call that takes a token. The calls are those of the table of routes: a new one is either
/// guarded by what all guarded ones share, or has to say here how it takes tokens.
@Suite struct HostileTokenEndpointTests {
    /// A way to present a token: the request.
    private typealias Way = @Sendable (Route, String) -> Request

    private static func target(_ route: Route) -> String {
        route.pattern.split(separator: "/").map { $0.hasPrefix("{") || $0 == "*" ? "/x" : "/\($0)" }.joined()
    }

    private static func field(_ name: StaticString, _ scheme: String) -> Way {
        { route, token in
            var fields = Fields()
            fields.append(name, scheme + token)
            return Request(route.method, target(route), fields: fields)
        }
    }

    private static func form(_ before: String) -> Way {
        { route, token in
            let escaped = token.utf8.map { "%" + Hex.encode([$0]) }.joined()
            return Request(
                route.method, target(route), fields: ["Content-Type": "application/x-www-form-urlencoded"],
                body: Array((before + escaped).utf8))
        }
    }

    private static func json(_ before: String, _ after: String = "}") -> Way {
        { route, token in
            let escaped = token.unicodeScalars.map { scalar in
                scalar.value < 0x20 || scalar == "\"" || scalar == "\\"
                    ? "\\u00" + Hex.encode([UInt8(scalar.value)]) : String(scalar)
            }.joined()
            return Request(
                route.method, target(route), fields: ["Content-Type": "application/json"],
                body: Array("\(before)\"\(escaped)\"\(after)".utf8))
        }
    }

    private static func proof(_ form: String) -> Way {
        { route, token in
            Request(
                route.method, target(route),
                fields: ["Content-Type": "application/x-www-form-urlencoded", "DPoP": token],
                body: Array(form.utf8))
        }
    }

    private static let bearer = field("Authorization", "Bearer ")
    private static let dpop = field("Authorization", "DPoP ")
    private static let assertionType = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"

    /// How the calls that look for themselves take tokens; empty: they take none.
    private static let open: [String: [Way]] = [
        "POST /oauth/token": [
            form("grant_type=refresh_token&client_id=mobile&refresh_token="),
            form("grant_type=urn:ietf:params:oauth:grant-type:jwt-bearer&client_id=mobile&assertion="),
            form("grant_type=client_credentials&client_assertion_type=\(assertionType)&client_assertion="),
            form("grant_type=urn:ietf:params:oauth:grant-type:device_code&client_id=mobile&device_code="),
            form("grant_type=urn:openid:params:grant-type:ciba&client_id=mobile&auth_req_id="),
            proof("grant_type=client_credentials"), bearer,
        ],
        "POST /oauth/revoke": [
            form("client_assertion_type=\(assertionType)&token=x&client_assertion="), bearer,
        ],
        "POST /oauth/introspect": [
            form("client_assertion_type=\(assertionType)&token=x&client_assertion="), bearer,
        ],
        "POST /oauth/device_authorization": [
            form("client_assertion_type=\(assertionType)&client_assertion="), bearer,
        ],
        "POST /oauth/bc-authorize": [
            form("client_assertion_type=\(assertionType)&scope=openid&login_hint=anna&client_assertion="), bearer,
        ],
        "POST /oauth/par": [form("client_assertion_type=\(assertionType)&client_assertion="), bearer],
        "GET /oauth/userinfo": [bearer, dpop], "POST /oauth/userinfo": [form("access_token="), bearer, dpop],
        // Pages, which take cookies: `PageLogin` has their tests.
        "GET /oauth/authorize": [], "POST /oauth/authorize": [], "GET /login": [], "POST /login/password": [],
        "GET /account": [], "POST /account/end": [], "GET /account/security": [], "POST /account/password": [],
        "POST /account/logins": [], "POST /account/passkeys": [], "GET /account/activity": [], "GET /reset": [],
        "POST /reset": [],
        "POST /login/passkey": [], "POST /login/offer": [], "POST /login/account": [],
        "GET /login/provider": [], "GET /login/callback": [], "GET /login/app": [], "POST /login/app": [],
        "GET /oauth/logout": [], "POST /oauth/logout": [], "GET /assets/{name}": [], "GET /assets/accent/{name}": [],
        "POST /login/phone": [], "GET /login/phone/{id}": [], "GET /login/phone/{id}/code.svg": [],
        "GET /login/phone/{id}/events": [], "POST /login/phone/{id}/finish": [], "GET /login/return": [],
        "GET /l/{code}": [], "GET /L/{code}": [], "GET /e/{code}": [], "GET /E/{code}": [], "GET /not-me": [],
        "POST /not-me": [], "GET /account/events": [],
        "GET /device": [], "POST /device": [], "POST /device/decision": [],
        "GET /oauth/jwks": [], "GET /.well-known/apple-app-site-association": [],
        "GET /.well-known/assetlinks.json": [],
        // `Console` has the tests of its pages.
        "GET /console": [], "GET /console/enter": [], "POST /console/enter": [], "POST /console/leave": [],
        "GET /console/leave": [], "GET /console/find": [], "GET /console/events.csv": [], "GET /console/new-user": [],
        "POST /console/new-user": [],
        "POST /console/find": [], "GET /console/users": [], "GET /console/users/{user}": [],
        "POST /console/users/{user}": [], "GET /console/sessions/{session_id}": [],
        "POST /console/sessions/{session_id}": [], "GET /console/events": [], "GET /console/events.jsonl": [],
        "GET /console/clients": [],
        "GET /console/clients/{client_id}": [], "POST /console/clients/{client_id}": [], "GET /console/new-client": [],
        "POST /console/new-client": [], "GET /console/keys": [], "POST /console/keys": [],
        "GET /console/deliveries": [], "POST /console/deliveries": [], "GET /console/bulk": [],
        "POST /console/bulk": [], "GET /console/now": [], "GET /console/settings": [],
        "POST /console/settings": [], "GET /console/logins": [], "GET /console/logins/{login_id}": [],
        "POST /console/logins/{login_id}": [],
        "POST /v1/login": [field("DPoP", "")], "POST /v1/passkeys/options": [],
        "POST /v1/refresh": [json(#"{"refresh_token":"#), bearer, dpop, field("DPoP", "")],
        "POST /v1/logout": [json(#"{"refresh_token":"#), bearer, dpop],
        "POST /v1/password-reset": [json(#"{"new_password":"a new long word","reset_token":"#)],
        "GET /v1/verify": [bearer, dpop],
        "GET /v1/logins/{login_id}": [bearer, dpop],
        "POST /v1/enrolments": [], "GET /v1/enrolments/{login_id}": [bearer, dpop],
        "POST /v1/enrolments/{login_id}/start": [bearer, dpop],
        "POST /v1/enrolments/{login_id}/confirm": [bearer, dpop],
        "POST /v1/enrolments/{login_id}/second-factor": [bearer, dpop],
        "POST /v1/enrolments/{login_id}/stop": [bearer, dpop],
        "GET /v1/verify/*": [bearer, dpop],
        "GET /": [], "GET /readyz": [], "GET /metrics": [], "GET /openapi.json": [],
    ]

    private static func ways(_ route: Route) -> [Way]? {
        switch route.handler {
        case .immediate: []
        case .user, .owner, .client: [bearer, dpop]
        case .admin, .streaming: [bearer]
        case .open, .openStreaming: open[route.name]
        }
    }

    private func answer(_ stage: EndpointsFixture, _ route: Route, _ request: Request) async -> Answer {
        // No address, so that no limit of the doors answers in the place of the check.
        let caller = Caller(remoteAddress: nil, listener: route.listeners == .admin ? .admin : .public)
        return Answer(await stage.endpoints.reply(to: request, from: caller).response())
    }

    @Test func noHostileTokenOpensAnything() async throws {
        try await EndpointsFixture.with { stage in
            let tokens = try await stage.logIn()
            let hostile = try await HostileTokens(stage, from: tokens.access).all
            #expect(hostile.count > 120)
            for route in Route.all {
                let ways = try #require(Self.ways(route), "\(route.name) does not say how it takes tokens")
                for (number, way) in ways.enumerated() {
                    for (name, token) in hostile {
                        let answer = await answer(stage, route, way(route, token))
                        #expect(
                            (400...401).contains(answer.status), "\(route.name) \(number), \(name): \(answer.text)")
                        #expect(answer.string("code") != "activation_pending")
                    }
                }
            }
            // Whatever was tried, the session lives, and its good token opens what it did.
            #expect(await stage.call(.get, "/v1/me", bearer: tokens.access).status == 200)
            #expect(await stage.refresh(tokens.refresh).status == 200)
        }
    }

    @Test func toAskAndToRevokeSaysNothingOfAHostileToken() async throws {
        try await EndpointsFixture.with { stage in
            let tokens = try await stage.logIn()
            let secret = try #require(
                try await stage.makeClient(
                    #"{"client_id":"api","token_endpoint_auth_method":"client_secret_basic","grant_types":["client_credentials"]}"#
                ))
            for (name, token) in try await HostileTokens(stage, from: tokens.access).all {
                let escaped = token.utf8.map { "%" + Hex.encode([$0]) }.joined()
                let asked = await stage.form("/oauth/introspect", "token=\(escaped)", basic: "api:\(secret)")
                // A NUL is no character of a form.
                if asked.status != 400 { #expect(asked.text == #"{"active":false}"#, "\(name)") }
                let revoked = await stage.form("/oauth/revoke", "client_id=mobile&token=\(escaped)")
                #expect([200, 400].contains(revoked.status), "\(name): \(revoked.text)")
            }
            #expect(await stage.call(.get, "/v1/me", bearer: tokens.access).status == 200)
        }
    }

    /// The control: what the table presents in the same ways opens everything when it is good.
    @Test func theGoodTokenOpensWhatIsGuarded() async throws {
        try await EndpointsFixture.with { stage in
            let tokens = try await stage.logIn()
            for route in Route.all {
                switch route.handler {
                case .user, .owner:
                    let answer = await answer(stage, route, Self.bearer(route, tokens.access))
                    #expect(answer.status != 401 || answer.string("code") == "invalid_credentials", "\(route.name)")
                    if route.name == "DELETE /v1/me/devices" { return }
                default: break
                }
            }
        }
    }
}
