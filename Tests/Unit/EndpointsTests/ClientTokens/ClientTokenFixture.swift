import Cryptography
import FoundationEssentials
import HTTP
import JOSE
import Sessions
import Testing

@testable import Endpoints

/// A backend that gets tokens for itself, and a second client that asks about them.
struct ClientTokenFixture: Sendable {
    static let grant = "grant_type=client_credentials"

    let server: EndpointsFixture
    /// Another node on the same database, which every end must reach.
    let otherNode: EndpointsFixture
    private let secrets: [String: String]
    private let key: SigningKey

    /// The clients: two with secrets, one with two keys.
    static func with(_ body: (ClientTokenFixture) async throws -> Void) async throws {
        try await EndpointsFixture.with { server in try await body(ClientTokenFixture(server)) }
    }

    private init(_ server: EndpointsFixture) async throws {
        self.server = server
        var secrets: [String: String] = [:]
        for id in ["backend", "asker"] { secrets[id] = try await server.makeClient(Self.backend(id)) }
        #expect(secrets.count == 2)
        self.secrets = secrets
        key = SigningKey.generate(.es256)
        let made = try await server.makeClient(
            #"""
            {"client_id":"signer","token_endpoint_auth_method":"private_key_jwt","grant_types":["client_credentials"],
             "jwks":\#(Self.keys([("a", key), ("b", SigningKey.generate(.es256))])),"scope":"ssf.manage ssf.read"}
            """#)
        #expect(made == nil)
        otherNode = try await server.anotherNode()
    }

    /// The body that makes a client with a secret.
    static func backend(_ id: String) -> String {
        #"""
        {"client_id":"\#(id)","token_endpoint_auth_method":"client_secret_basic","scope":"ssf.manage ssf.read read",
         "grant_types":["client_credentials"]}
        """#
    }

    static func keys(_ keys: [(kid: String, key: SigningKey)]) -> String {
        let set = JWKSet(keys.map { JWK(publishing: $0.key.publicKey, kid: $0.kid) })
        return String(decoding: (try? JSONEncoder().encode(set)) ?? Data(), as: UTF8.self)
    }

    /// The set with the first key of `signer`, and with those keys beside it.
    func keys(beside more: [(kid: String, key: SigningKey)] = []) -> String { Self.keys([("a", key)] + more) }

    /// A token that the client gets for itself, with the secret that it was made with unless another is given.
    func token(of id: String = "backend", secret: String? = nil) async throws -> String {
        let answer =
            id == "signer"
            ? await server.form(
                "/oauth/token",
                "\(Self.grant)&client_assertion_type=\(Assertions.type)&client_assertion=\(assertion())")
            : await server.form("/oauth/token", Self.grant, basic: basic(id, secret))
        return try #require(answer.string("access_token"), "\(answer.text)")
    }

    func basic(_ id: String = "backend", _ secret: String? = nil) -> String { "\(id):\(secret ?? secrets[id] ?? "")" }

    private func assertion() -> String {
        let (start, id) = (EndpointsFixture.start, Base64URL.encode(RandomSource.system.bytes(8)))
        let claims = #"""
            {"iss":"signer","sub":"signer","aud":"\#(EndpointsFixture.issuer)","exp":\#(start + 60),"iat":\#(start),"jti":"\#(id)"}
            """#
        let input =
            Base64URL.encode(Array(#"{"alg":"ES256","kid":"a"}"#.utf8)) + "." + Base64URL.encode(Array(claims.utf8))
        return input + "." + Base64URL.encode(key.sign(Array(input.utf8)))
    }

    func change(_ json: String, of id: String = "backend") async -> Answer {
        let answer = await server.admin(.patch, "/admin/v1/clients/\(id)", json)
        #expect(answer.status == 200, "\(answer.text)")
        return answer
    }

    func claims(of token: String) throws -> Answer {
        let part = try #require(token.split(separator: ".").dropFirst().first)
        return Answer(Response(.ok, "application/json", try #require(Base64URL.decode(String(part)))))
    }

    /// The places of a node that accept `token`: each route that takes an access token, by the table of routes, and those that
    /// read one themselves.
    func places(accepting token: String, on node: EndpointsFixture) async -> Set<String> {
        var places: Set<String> = []
        for (number, route) in Route.all.enumerated() where route.takesAccessToken {
            let path = route.pattern.replacing("{id}", with: "x").replacing("{device_id}", with: "x").replacing(
                "*", with: "x")
            var fields: Fields = ["Authorization": "Bearer \(token)"]
            var body: [UInt8] = []
            if route.method == .post || route.method == .put || route.method == .patch {
                fields.append("Content-Type", "application/json")
                body = Array(#"{"returnImmediately":true}"#.utf8)
            }
            // Each from an address of its own, because addresses with refused tokens are slowed down.
            let answer = await node.send(
                Request(route.method, path, fields: fields, body: body), address: "198.51.100.\(number % 250 + 1)")
            if answer.status != 401 { places.insert("\(route.method.rawValue) \(route.pattern)") }
        }
        let told = await node.form("/oauth/introspect", "token=\(token)", basic: basic("asker"))
        #expect(told.status == 200)
        if told.bool("active") == true { places.insert("introspection") }
        return places
    }

    /// The places that accept the token of a client.
    static let places = Set(
        Route.all.compactMap { route in
            if case .client = route.handler { return "\(route.method.rawValue) \(route.pattern)" }
            return route.pattern.hasPrefix("/v1/verify") ? "\(route.method.rawValue) \(route.pattern)" : nil
        } + ["introspection"])

    /// Whether an API that verifies tokens by itself refuses the token, by the rules that the feed's page has.
    func feedRefuses(_ token: String) async throws -> Bool {
        let claims = try claims(of: token)
        return await server.admin(.get, "/admin/v1/revocations?limit=200").items.contains { item in
            let isOfClient = item.string("client_id") == nil || item.string("client_id") == claims.string("client_id")
            return switch item.string("type") {
            case "client_tokens_ended": isOfClient && claims.integer("epoch") ?? 0 < item.integer("epoch") ?? 0
            case "client_token_revoked": isOfClient && claims.string("jti") == item.string("jti")
            case "client_deleted": isOfClient && claims.integer("iat") ?? 0 <= item.integer("at") ?? 0
            default: false
            }
        }
    }
}

extension Route {
    /// Whether a caller of the route may bring an access token in the field `Authorization`.
    fileprivate var takesAccessToken: Bool {
        switch handler {
        case .client, .user, .owner: true
        case .open: pattern.hasPrefix("/v1/verify") || pattern == "/oauth/userinfo"
        case .immediate, .admin, .streaming, .openStreaming: false
        }
    }
}
