import Cryptography
import HTTP
import JSON
import Locks
import OAuth
import Sessions
import Testing

@testable import Endpoints

/// Clients with `dpop: "nonce"`. An injected script can sign proofs for next week with the key of its page, and cannot know the
/// nonces of next week (RFC 9449 section 11.2).
@Suite struct NonceRequirementTests {
    private static let week: Int64 = 7 * EndpointsFixture.day

    /// The ways in that bring a proof: an admin's session has the thumbprint of a key alone.
    private static let provenWays = WayIn.allCases.filter { $0 != .minted }

    @Test("Every way in refuses a proof of a week before, and spends nothing by that", arguments: provenWays)
    func waysIn(_ way: WayIn) async throws {
        try await WaysIn.with { ways in
            let prover = Prover(ways.server)
            for client in ["shop", "tv", "backend"] { try await ways.server.demandNonce(of: client) }
            // The login page has the phone only if an admin has named it.
            if way == .pagePhone { try await ways.allow([.phone]) }
            defer { ways.server.environment.edit.withLock { $0 = nil } }
            // Some ways go on with a session, which has to begin before.
            prover.sign(.withNonce)
            let refused = try await ways.go(way, device: "d-1") { moment in
                prover.sign(moment == .before ? .withNonce : .inAdvance)
            }
            let last = try #require(prover.last)
            #expect(refused.word == "use_dpop_nonce", "\(refused.text)")
            #expect(refused.status == 400 && refused.field("DPoP-Nonce") != nil)
            prover.sign(.withStaleNonce)
            #expect(await ways.server.send(last).word == "use_dpop_nonce")
            prover.sign(.withNonce)
            let granted = await ways.server.send(last)
            #expect(granted.status == 200 && granted.string("token_type") == "DPoP", "\(granted.text)")
        }
    }

    @Test("Each call with an access token refuses a proof that was signed a week before")
    func calls() async throws {
        try await EndpointsFixture.with { server in
            let scope = await server.admin(
                .patch, "/admin/v1/clients/mobile", #"{"scope":"openid \#(EndpointsFixture.scope)"}"#)
            try #require(scope.status == 200, "\(scope.text)")
            try await server.demandNonce(of: "mobile")
            let prover = Prover(server)
            defer { server.environment.edit.withLock { $0 = nil } }
            prover.sign(.withNonce)
            let tokens = try Tokens(await server.call(.post, "/v1/login", EndpointsFixture.loginBody()))
            server.moveClock(to: Self.week)
            var count = 0
            for route in Route.all where route.takesAccessTokens {
                let request = Request(
                    route.method, route.target,
                    fields: ["Authorization": "DPoP \(tokens.access)", "Content-Type": "application/json"],
                    body: Array("{}".utf8))
                for signing in [Prover.Signing.inAdvance, .withStaleNonce] {
                    prover.sign(signing)
                    let refused = await server.send(request)
                    #expect(refused.status == 401 && refused.word == "use_dpop_nonce", "\(route.name): \(refused.text)")
                    #expect(refused.field("DPoP-Nonce") != nil, "\(route.name)")
                }
                count += 1
            }
            #expect(count > 30)
            prover.sign(.withNonce)
            let kept = await server.call(.get, "/v1/me", fields: ["Authorization": "DPoP \(tokens.access)"])
            #expect(kept.status == 200, "\(kept.text)")
        }
    }

    @Test("A client's token for itself, a logout, a revocation and a pushed request need a nonce too")
    func otherEndpoints() async throws {
        try await EndpointsFixture.with { server in
            let secret = try await server.makeClient(
                #"{"client_id":"api","token_endpoint_auth_method":"client_secret_basic","grant_types":["client_credentials"],"dpop":"nonce"}"#
            )
            _ = try await server.makeClient(
                #"""
                {"client_id":"web","grant_types":["authorization_code","refresh_token","login"],"dpop":"nonce",
                 "redirect_uris":["https://web.example/"],"scope":"openid"}
                """#)
            let prover = Prover(server)
            defer { server.environment.edit.withLock { $0 = nil } }
            prover.sign(.withNonce)
            let session = { (device: String) in
                try Tokens(
                    await server.call(
                        .post, "/v1/login", EndpointsFixture.loginBody(client: "web", device: device)))
            }
            let (first, second) = (try await session("a"), try await session("b"))
            let own = "api:\(secret ?? "")"
            let pushed =
                "client_id=web&response_type=code&redirect_uri=https://web.example/&scope=openid"
                + "&code_challenge=\(PageLoginFixture.challenge)&code_challenge_method=S256&state=s"
            let calls: [(String, status: Int, () async -> Answer)] = [
                ("own token", 200, { await server.form("/oauth/token", "grant_type=client_credentials", basic: own) }),
                ("pushed request", 201, { await server.form("/oauth/par", pushed) }),
                ("revocation", 200, { await server.form("/oauth/revoke", "client_id=web&token=\(first.access)") }),
                (
                    "logout", 204,
                    { await server.call(.post, "/v1/logout", #"{"refresh_token":"\#(second.refresh)"}"#) }
                ),
            ]
            for (name, status, call) in calls {
                for signing in [Prover.Signing.inAdvance, .withStaleNonce] {
                    prover.sign(signing)
                    let refused = await call()
                    #expect(refused.word == "use_dpop_nonce" && refused.field("DPoP-Nonce") != nil, "\(name)")
                }
                prover.sign(.withNonce)
                let granted = await call()
                #expect(granted.status == status, "\(name): \(granted.text)")
            }
        }
    }

    @Test("A login without a proof is refused as such, and a session that began without a key goes on")
    func withoutProof() async throws {
        try await EndpointsFixture.with { server in
            let free = try await server.logIn(device: "old")
            try await server.demandNonce(of: "mobile")
            let refused = await server.call(.post, "/v1/login", EndpointsFixture.loginBody())
            #expect(refused.word == "invalid_dpop_proof" && refused.field("DPoP-Nonce") == nil)
            #expect(await server.refresh(free.refresh).status == 200)
            #expect(await server.call(.get, "/v1/me", bearer: free.access).status == 200)
        }
    }

    @Test("Other clients of the same server go on without nonces")
    func otherClients() async throws {
        try await EndpointsFixture.with { server in
            _ = try await server.makeClient(#"{"client_id":"web","dpop":"nonce"}"#)
            let device = ProvingDevice()
            let tokens = try await server.logIn(device)
            #expect(await server.refresh(tokens.refresh, by: device).status == 200)
            #expect(await server.call(.get, "/v1/me", token: tokens.access, by: device).field("DPoP-Nonce") == nil)
        }
    }
}

/// Adds a proof of one key to each request of a test.
final class Prover: Sendable {
    /// How a proof is dated.
    enum Signing: Sendable {
        /// With a nonce of the moment.
        case withNonce
        /// Long before, for this moment, without a nonce.
        case inAdvance
        /// With a nonce from a week before.
        case withStaleNonce
    }

    private let server: EndpointsFixture
    private let key = ProvingDevice()
    private let seen = Locked<Request?>(nil)

    init(_ server: EndpointsFixture) { self.server = server }

    /// The last request, without its proof.
    var last: Request? { seen.withLock { $0 } }

    /// Signs from now on like this.
    func sign(_ signing: Signing) {
        server.environment.edit.withLock { edit in
            edit = { [self] request in
                seen.withLock { $0 = request }
                var proven = request
                let path = request.target.path
                let token = request.fields.first("Authorization").flatMap { value in
                    value.hasPrefix("DPoP ") ? String(value.dropFirst(5)) : nil
                }
                let proof = key.proof(server, request.method, path, token: token, nonce: nonce(signing))
                proven.fields.append("DPoP", proof)
                return proven
            }
        }
    }

    private func nonce(_ signing: Signing) -> String? {
        let (proofs, now) = (server.context.proofs, server.context.clock.now)
        switch signing {
        case .withNonce: return proofs.nonce(curing: .nonceMissing, at: now)
        case .inAdvance: return nil
        case .withStaleNonce:
            return proofs.nonce(curing: .nonceMissing, at: now + .seconds(-7 * EndpointsFixture.day))
        }
    }
}

extension EndpointsFixture {
    /// Lets a client need a nonce in each proof.
    func demandNonce(of client: String) async throws {
        let changed = await admin(.patch, "/admin/v1/clients/\(client)", #"{"dpop":"nonce"}"#)
        try #require(changed.string("dpop") == "nonce", "\(changed.text)")
    }
}

extension Answer {
    /// The code of an error, in either format.
    var word: String? { string("error") ?? string("code") }
}

extension Route {
    /// A path of the route.
    fileprivate var target: String {
        pattern.split(separator: "/").map { $0.hasPrefix("{") || $0 == "*" ? "/x" : "/\($0)" }.joined()
    }

    /// Whether the row is for users with an access token.
    fileprivate var takesAccessTokens: Bool {
        switch handler {
        case .user, .owner: true
        case .open: ["/v1/verify", "/oauth/userinfo"].contains(pattern)
        case .immediate, .client, .admin, .streaming, .openStreaming: false
        }
    }
}
