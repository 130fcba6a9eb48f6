import Cryptography
import Federation
import FoundationEssentials
import HTTP
import HTTPClient
import HostileServer
import JOSE
import JSON
import Locks
import Sessions
import Telemetry
import Testing

@testable import Endpoints

/// An identity provider of our own on a real socket, which does whatever a test wants.
final class FakeProvider: Sendable {
    /// What it publishes, and how; nil: as a good provider does.
    struct Behaviour {
        var discovery: [HostileServer.Step]?
        var keys: [HostileServer.Step]?
        var tokens: [HostileServer.Step]?
        /// More members of the discovery document, each with a comma in front.
        var moreDiscovery = ""
        var published: [JWK]
    }

    let name: String
    let key: SigningKey
    let kid: String
    private let behaviour: Locked<Behaviour>
    private let listener: HostileServer

    init(_ name: String = "acme", algorithm: SignatureAlgorithm = .es256, kid: String = "k1") {
        self.name = name
        self.kid = kid
        let key = SigningKey.generate(algorithm)
        self.key = key
        let behaviour = Locked(Behaviour(published: [JWK(publishing: key.publicKey, kid: kid)]))
        self.behaviour = behaviour
        let issuer = Locked("")
        listener = HostileServer { request in
            let state = behaviour.withLock { $0 }
            if request.hasPrefix("GET /keys") { return state.keys ?? [.json(Self.text(JWKSet(state.published)))] }
            if request.hasPrefix("POST /token") { return state.tokens ?? [.json("{}")] }
            let base = issuer.withLock { $0 }
            return state.discovery ?? [
                .json(
                    #"""
                    {"issuer":"\#(base)","jwks_uri":"\#(base)/keys","authorization_endpoint":"\#(base)/authorize?p=1",
                     "token_endpoint":"\#(base)/token"\#(state.moreDiscovery)}
                    """#)
            ]
        }
        issuer.withLock { [listener] in $0 = listener.origin }
    }

    var issuer: String { listener.origin }
    var keyRequests: Int { listener.requests.count { $0.hasPrefix("GET /keys") } }
    var requests: [String] { listener.requests }

    func change(_ body: (inout Behaviour) -> Void) {
        // In two steps, as the body is not sent anywhere.
        var state = behaviour.withLock { $0 }
        body(&state)
        let changed = state
        behaviour.withLock { $0 = changed }
    }

    func stop() { listener.stop() }

    var configuration: IdentityProvider {
        var provider = IdentityProvider(name: name, issuer: issuer, audiences: ["app", "app2"])
        provider.discoveryURL = OutboundURL(issuer + "/.well-known/openid-configuration", plainLoopback: true)
        provider.algorithms = [.es256, .eddsa, .rs256]
        return provider
    }

    static func text(_ value: some Encodable) -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        return (try? encoder.encode(value)).map { String(decoding: $0, as: UTF8.self) } ?? ""
    }

    /// The members that every ID token has, with those of `more` over them; null takes one away.
    func claims(_ more: String = "{}", at now: Int64 = EndpointsFixture.start) throws -> [String: JSONValue] {
        let base = #"{"iss":"\#(issuer)","aud":"app","sub":"u1","iat":\#(now),"exp":\#(now + 300)}"#
        var members = try StrictJSON.object(Array(base.utf8))
        for (name, value) in try StrictJSON.object(Array(more.utf8)) {
            if case .null = value { members[name] = nil } else { members[name] = value }
        }
        return members
    }

    /// An ID token.
    func token(_ more: String = "{}", at now: Int64 = EndpointsFixture.start, kid: String? = nil, typ: String = "JWT")
        throws
        -> String
    {
        try JWT.sign(claims: try claims(more, at: now), typ: typ, key: key, kid: kid ?? self.kid)
    }

    /// A token with that header, signed by the key whatever it says.
    func token(header: String, _ more: String = "{}") throws -> String {
        let input =
            Base64URL.encode(Array(header.utf8)) + "." + Base64URL.encode(Array(Self.text(try claims(more)).utf8))
        return input + "." + Base64URL.encode(key.sign(Array(input.utf8)))
    }
}

extension HostileServer.Step {
    static func json(_ text: String, status: Int = 200) -> HostileServer.Step {
        .say(
            "HTTP/1.1 \(status) OK\r\nContent-Type: application/json\r\nContent-Length: \(text.utf8.count)\r\n\r\n\(text)"
        )
    }
}

/// A server that knows one provider, or two.
struct ProviderFixture {
    let server: EndpointsFixture
    let provider: FakeProvider
    let other: FakeProvider

    /// `twice`: the provider has a second entry, `acme-2`, for other apps where `audiences` names them.
    static func with(
        twice: Bool = false, audiences: [String]? = nil, passkeys: PasskeyPolicy? = nil,
        _ change: (inout IdentityProvider) -> Void = { _ in },
        _ body: (ProviderFixture) async throws -> Void
    ) async throws {
        let (provider, other) = (FakeProvider(), FakeProvider("globex"))
        defer {
            provider.stop()
            other.stop()
        }
        var configuration = provider.configuration
        change(&configuration)
        var second = configuration
        second.name = "acme-2"
        second.audiences = audiences ?? second.audiences
        let providers = [configuration, other.configuration] + (twice ? [second] : [])
        let verifier: (WallClock, Logger) -> any IdentityVerifier = { clock, logger in
            IdentityProviders(
                providers, client: HTTPClient(HTTPClient.Options(connectDeadline: .seconds(2), deadline: .seconds(2))),
                clock: clock, metrics: MetricsRegistry(), logger: logger)
        }
        try await EndpointsFixture.with(identities: verifier, passkeys: passkeys) { server in
            try await body(ProviderFixture(server: server, provider: provider, other: other))
        }
    }

    /// Logs in by an ID token.
    func present(_ token: String, device: String = "phone", provider name: String? = nil, more: String = "") async
        -> Answer
    {
        await server.call(
            .post, "/v1/login",
            #"{"provider":"\#(name ?? provider.name)","id_token":"\#(token)","device":{"id":"\#(device)"}\#(more)}"#)
    }

    /// Logs in by a new token with those claims.
    func logIn(_ claims: String = "{}", more: String = "") async throws -> Answer {
        await present(try provider.token(claims), more: more)
    }

    /// Logs in by a new token with those claims, and expects an answer with that status.
    func expect(_ status: Int, _ claims: String = "{}") async throws {
        let answer = try await logIn(claims)
        #expect(answer.status == status, "\(claims): \(answer.text)")
    }
}
