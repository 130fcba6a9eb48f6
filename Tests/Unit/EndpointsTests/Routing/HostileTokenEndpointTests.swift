import Cryptography
import FoundationEssentials
import HTTP
import JOSE
import JSON
import Sessions
import Testing

@testable import Endpoints

/// Every hostile token at every call that takes a token. The rows say how each takes tokens: by its guard, or by its schemes, its
/// proof of possession and the members of its body.
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

    /// A proof of possession beside content that is whole.
    private static func proof(_ type: String?, _ body: String) -> Way {
        { route, token in
            var fields = Fields()
            if let type { fields.append("Content-Type", type) }
            fields.append("DPoP", token)
            return Request(route.method, target(route), fields: fields, body: Array(body.utf8))
        }
    }

    private static let bearer = field("Authorization", "Bearer ")
    private static let dpop = field("Authorization", "DPoP ")

    /// What stands in a form before a member that is a token, so that the call looks at the token.
    private static let forms = [
        "refresh_token": "grant_type=refresh_token&client_id=mobile&",
        "assertion": "grant_type=urn:ietf:params:oauth:grant-type:jwt-bearer&client_id=mobile&",
        "client_assertion":
            "client_assertion_type=urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
            + "&grant_type=client_credentials&scope=openid&login_hint=anna&token=x&",
        "device_code": "grant_type=urn:ietf:params:oauth:grant-type:device_code&client_id=mobile&",
        "auth_req_id": "grant_type=urn:openid:params:grant-type:ciba&client_id=mobile&",
        "access_token": "",
    ]
    /// What stands before such a member in JSON.
    private static let objects = [
        "refresh_token": "{", "reset_token": #"{"new_password":"a new long word","#,
        "login_token": #"{"device":{"id":"x"},"#,
    ]
    /// Members with such a name that no test here sends: those of a revocation and an introspection, which have a test below;
    /// those of identity providers and of other servers; those of mailboxes, which `VerificationTests` sends; codes of single use; those that count only beside a good token.
    private static let others: Set = [
        "token", "id_token", "subject_token", "provider_refresh_token", "actor_token", "id_token_hint",
        "login_hint_token", "client_notification_token", "code", "user_code", "return_token", "user_assertion",
        "verification_token",
    ]

    private static func isToken(_ name: String) -> Bool {
        name.hasSuffix("token") || name.hasSuffix("assertion") || name.hasSuffix("code") || name == "auth_req_id"
    }

    /// How a call takes tokens that looks for itself. Pages take cookies: `PageLogin` and `Console` have their tests.
    private static func openWays(_ route: Route, _ parts: APIDocument.Parts) throws -> [Way] {
        if route.errorFormat == .page { return [] }
        let (operation, entry) = (route.operation, try RouteEntry(route, parts).json().members)
        let schemes = Set((entry["security"]?.elements ?? []).flatMap(\.members.keys))
        var ways: [Way] = schemes.isEmpty ? [] : [bearer]
        if !schemes.isDisjoint(with: ["bearer", "dpop", "enrolment"]) { ways.append(dpop) }
        let (form, object) = (parts.schema(ofForm: operation), parts.schema(ofJSON: operation))
        let names = ((form ?? object)?["properties"]?.members ?? [:]).keys.filter(isToken).sorted()
        for name in names {
            if form != nil, let before = forms[name] {
                ways.append(Self.form("\(before)\(name)="))
            } else if object != nil, let before = objects[name] {
                ways.append(json("\(before)\"\(name)\":"))
            } else {
                #expect(others.contains(name), "\(route.name) takes \(name): say what stands before it")
            }
        }
        // An unknown token is no error of a revocation, which then looks at no proof.
        let takesProof = (entry["parameters"]?.elements ?? []).contains {
            $0.members["$ref"]?.string == "#/components/parameters/DPoP"
        }
        if takesProof, !names.contains("token") { ways.append(try proof(of: operation, parts)) }
        return ways
    }

    /// A proof of possession beside the example of the content.
    private static func proof(of operation: Route.Operation, _ parts: APIDocument.Parts) throws -> Way {
        if let object = parts.schema(ofJSON: operation) {
            let example = try JSONEncoder().encode(object["examples"]?.elements.first ?? .object([:]))
            return proof("application/json", String(decoding: example, as: UTF8.self))
        }
        guard parts.schema(ofForm: operation) != nil else { return proof(nil, "") }
        let examples = (parts.bodies[operation.id]?.members["examples"]?.members ?? [:]).sorted { $0.key < $1.key }
        let pairs = (examples.first?.value.members["value"]?.members ?? [:]).sorted { $0.key < $1.key }
        return proof(
            "application/x-www-form-urlencoded",
            pairs.map { "\($0.key)=\($0.value.string ?? "")" }.joined(separator: "&"))
    }

    private static func ways(_ route: Route, _ parts: APIDocument.Parts) throws -> [Way] {
        switch route.handler {
        case .immediate: []
        case .user, .owner, .client: [bearer, dpop]
        case .admin, .streaming: [bearer]
        case .open, .openStreaming: try openWays(route, parts)
        }
    }

    private func answer(_ server: EndpointsFixture, _ route: Route, _ request: Request) async -> Answer {
        // No address, so that no limit of the doors answers in the place of the check.
        let caller = Caller(remoteAddress: nil, listener: route.listeners == .admin ? .admin : .public)
        return Answer(await server.endpoints.reply(to: request, from: caller).response())
    }

    @Test func noHostileTokenOpensAnything() async throws {
        try await EndpointsFixture.with { server in
            let tokens = try await server.logIn()
            let hostile = try await HostileTokens(server, from: tokens.access).all
            #expect(hostile.count > 120)
            let parts = try APIDocument.Parts()
            var count = 0
            for route in Route.all {
                let ways = try Self.ways(route, parts)
                if AccountScopeTests.readers.contains(route.name) { #expect(ways.count > 1, "\(route.name)") }
                count += ways.count
                for (number, way) in ways.enumerated() {
                    for (name, token) in hostile {
                        let answer = await answer(server, route, way(route, token))
                        #expect(
                            (400...401).contains(answer.status), "\(route.name) \(number), \(name): \(answer.text)")
                        #expect(answer.string("code") != "activation_pending")
                    }
                }
            }
            #expect(count > 180)
            // Whatever was tried, the session lives, and its good token opens what it did.
            #expect(await server.call(.get, "/v1/me", bearer: tokens.access).status == 200)
            #expect(await server.refresh(tokens.refresh).status == 200)
        }
    }

    @Test func toAskAndToRevokeSaysNothingOfAHostileToken() async throws {
        try await EndpointsFixture.with { server in
            let tokens = try await server.logIn()
            let secret = try #require(
                try await server.makeClient(
                    #"{"client_id":"api","token_endpoint_auth_method":"client_secret_basic","grant_types":["client_credentials"]}"#
                ))
            for (name, token) in try await HostileTokens(server, from: tokens.access).all {
                let escaped = token.utf8.map { "%" + Hex.encode([$0]) }.joined()
                let asked = await server.form("/oauth/introspect", "token=\(escaped)", basic: "api:\(secret)")
                // A NUL is no character of a form.
                if asked.status != 400 { #expect(asked.text == #"{"active":false}"#, "\(name)") }
                let revoked = await server.form("/oauth/revoke", "client_id=mobile&token=\(escaped)")
                #expect([200, 400].contains(revoked.status), "\(name): \(revoked.text)")
            }
            #expect(await server.call(.get, "/v1/me", bearer: tokens.access).status == 200)
        }
    }

    /// The control: what the table presents in the same ways opens everything when it is good.
    @Test func theGoodTokenOpensWhatIsGuarded() async throws {
        try await EndpointsFixture.with { server in
            let tokens = try await server.logIn()
            for route in Route.all {
                switch route.handler {
                case .user, .owner:
                    let answer = await answer(server, route, Self.bearer(route, tokens.access))
                    #expect(answer.status != 401 || answer.string("code") == "invalid_credentials", "\(route.name)")
                    if route.name == "DELETE /v1/me/devices" { return }
                default: break
                }
            }
        }
    }
}
