import HTTP
import Sessions
import Testing

@testable import Endpoints

/// Forward authentication with proofs of possession: for which request a proof must have been made, and which proxy may name it.
@Suite struct ForwardedProofTests {
    private static let target = "https://api.example/orders"
    private static let said: [(name: StaticString, value: String)] = [
        ("X-Forwarded-Method", "POST"), ("X-Forwarded-Proto", "https"), ("X-Forwarded-Host", "api.example"),
        ("X-Forwarded-Uri", "/orders"),
    ]

    /// A session that is bound to a key, and what asks about requests with its token.
    private struct World {
        let server: EndpointsFixture
        let device = ProvingDevice()
        let token: String

        init(_ server: EndpointsFixture) async throws {
            self.server = server
            token = try await server.logIn(device).access
        }

        /// The status of the answer to a call with those fields and a proof for `target`.
        func ask(
            _ fields: [(name: StaticString, value: String)] = ForwardedProofTests.said, at path: String = "/v1/verify",
            by asking: HTTP.Method = .get, proof method: HTTP.Method = .post,
            for target: String = ForwardedProofTests.target, isProxy: Bool = true
        ) async -> Int {
            var all: Fields = [
                "Authorization": "DPoP \(token)", "DPoP": device.proof(server, method, target, token: token),
            ]
            for (name, value) in fields { all.append(name, value) }
            let caller = Caller(remoteAddress: "192.0.2.1", listener: .public, isProxy: isProxy)
            let request = Request(asking, path, fields: all)
            return await server.endpoints.reply(to: request, from: caller).response().status.code
        }
    }

    private static func with(_ body: (World) async throws -> Void) async throws {
        try await EndpointsFixture.with { try await body(World($0)) }
    }

    /// RFC 9449 section 4.3 points 8 and 9.
    @Test func aProofIsForTheRequestThatTheProxyAsksAbout() async throws {
        try await Self.with { world in
            #expect(await world.ask() == 200)
            #expect(await world.ask(Self.said.dropLast() + [("X-Forwarded-Uri", "/orders?page=2")]) == 200)
            #expect(await world.ask(proof: .get) == 401)
            #expect(await world.ask(for: "https://api.example/payments") == 401)
            #expect(await world.ask(for: "https://other.example/orders") == 401)
            #expect(await world.ask(for: "http://api.example/orders") == 401)
            #expect(await world.ask(proof: .get, for: "/v1/verify") == 401)
        }
    }

    @Test func onlyATrustedProxySaysWhichRequestItIs() async throws {
        try await Self.with { world in
            #expect(await world.ask(isProxy: false) == 401)
            // Nor is the proof for the question itself then enough.
            #expect(await world.ask(proof: .get, for: "/v1/verify", isProxy: false) == 401)
            // Without such a word the question is the request.
            for isProxy in [false, true] {
                #expect(await world.ask([], proof: .get, for: "/v1/verify", isProxy: isProxy) == 200)
                let rest = Array(Self.said.dropLast())
                #expect(await world.ask(rest, proof: .get, for: "/v1/verify", isProxy: isProxy) == 200)
                #expect(await world.ask(rest, isProxy: isProxy) == 401)
            }
        }
    }

    @Test(arguments: Self.said.indices) func aFieldThatStandsTwiceOrNowhereIsRefused(_ index: Int) async throws {
        try await Self.with { world in
            let (name, value) = Self.said[index]
            for second in [value, "", "x"] {
                #expect(await world.ask(Self.said + [(name, second)]) == 401, "\(name)")
                #expect(await world.ask([(name, second)] + Self.said) == 401, "\(name)")
            }
            var fields = Self.said
            fields.remove(at: index)
            #expect(await world.ask(fields) == 401, "\(name)")
            for joined in ["\(value), x", "x, \(value)", "\(value),\(value)"] {
                fields = Self.said
                fields[index].value = joined
                #expect(await world.ask(fields) == 401, "\(name): \(joined)")
            }
        }
    }

    /// What the proxy does not say of the request, its question does not say either.
    @Test func nothingStandsInForAFieldThatIsMissing() async throws {
        try await Self.with { world in
            let noMethod = Array(Self.said.dropFirst())
            #expect(await world.ask(noMethod, by: .get, proof: .get) == 401)
            let noHost = Self.said.filter { $0.value != "api.example" }
            #expect(noHost.count == 3)
            #expect(await world.ask(noHost + [("Host", "api.example")]) == 401)
        }
    }

    /// A host that the path goes on with is another one.
    @Test func theTargetBeginsWithASlash() async throws {
        try await Self.with { world in
            var fields = Self.said
            fields[3].value = ".evil.example/orders"
            #expect(await world.ask(fields, for: "https://api.example.evil.example/orders") == 401)
        }
    }

    /// Envoy asks with the method, the host and the path of its client's request.
    @Test func whereThePathIsAppendedTheQuestionNamesTheRequest() async throws {
        try await Self.with { world in
            let fields: [(name: StaticString, value: String)] = [
                ("Host", "api.example"), ("X-Forwarded-Proto", "https"),
            ]
            let path = "/v1/verify/orders?page=2"
            #expect(await world.ask(fields, at: path, by: .post) == 200)
            #expect(
                await world.ask(fields, at: "/v1/verify/", by: .get, proof: .get, for: "https://api.example/") == 200)
            #expect(await world.ask(fields, at: path, by: .delete) == 401)
            #expect(await world.ask(fields, at: "/v1/verify/payments", by: .post) == 401)
            #expect(await world.ask(fields, at: path, by: .post, for: "/v1/verify/orders") == 401)
            #expect(await world.ask(fields, at: path, by: .post, isProxy: false) == 401)
            #expect(await world.ask(fields, at: path, by: .post, for: "/v1/verify/orders", isProxy: false) == 401)
            // What the client made up beside them is not looked at.
            let made = Self.said.filter { $0.name.description != "X-Forwarded-Proto" }
            #expect(await world.ask(fields + made, at: path, by: .delete) == 401)
            for index in fields.indices {
                #expect(await world.ask(fields + [fields[index]], at: path, by: .post) == 401)
                #expect(await world.ask([fields[1 - index]], at: path, by: .post) == 401)
            }
        }
    }

    /// RFC 9449 sections 6.1 and 7.2: a bound token is no bearer token, for any caller and any question.
    @Test func aBoundTokenIsNoBearerToken() async throws {
        try await Self.with { world in
            for path in ["/v1/verify", "/v1/verify/orders"] {
                #expect(await world.server.call(.get, path, bearer: world.token).status == 401)
            }
        }
    }
}
