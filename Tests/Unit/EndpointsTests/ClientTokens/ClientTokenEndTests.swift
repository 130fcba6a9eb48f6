import Cryptography
import HTTP
import Sessions
import Testing

@testable import Endpoints

/// The tokens that a client got for itself end with what it got them for, at every place that accepts one.
@Suite struct ClientTokenEndTests {
    /// A way in which tokens end.
    enum End: String, CaseIterable {
        case secretRotated, methodChanged, madePublic, keyRemoved, keyReplaced, keysToSecret, grantRemoved, deleted
        case deletedAndMadeAnew, allRevoked, revoked

        var client: String { [.keyRemoved, .keyReplaced, .keysToSecret].contains(self) ? "signer" : "backend" }

        /// The `reason` of the event.
        var reason: String? {
            switch self {
            case .secretRotated: "secret_rotated"
            case .methodChanged, .madePublic, .keysToSecret: "authentication_method_changed"
            case .keyRemoved, .keyReplaced: "key_removed"
            case .grantRemoved: "grant_removed"
            case .allRevoked: "all_revoked"
            case .deleted, .deletedAndMadeAnew, .revoked: nil
            }
        }

        /// Brings the end about. Returns a token that the client gets right after it; nil if it cannot get one.
        func bringAbout(_ world: ClientTokenFixture, _ token: String) async throws -> String? {
            let path = "/admin/v1/clients/backend"
            switch self {
            case .secretRotated:
                let secret = await world.change(#"{"rotate_secret":true}"#).string("client_secret")
                return try await world.token(secret: secret)
            case .methodChanged:
                _ = await world.change(#"{"token_endpoint_auth_method":"client_secret_post"}"#)
                let secret = world.basic().split(separator: ":")[1]
                return await world.server.form(
                    "/oauth/token", "\(ClientTokenFixture.grant)&client_id=backend&client_secret=\(secret)"
                ).string("access_token")
            case .madePublic:
                _ = await world.change(
                    #"{"token_endpoint_auth_method":"none","grant_types":["refresh_token"]}"#)
                return nil
            case .keyRemoved:
                _ = await world.change(#"{"jwks":\#(world.keys())}"#, of: "signer")
                return try await world.token(of: "signer")
            case .keyReplaced:
                let keys = world.keys(beside: [("b", SigningKey.generate(.es256))])
                _ = await world.change(#"{"jwks":\#(keys)}"#, of: "signer")
                return try await world.token(of: "signer")
            case .keysToSecret:
                let changed = await world.change(
                    #"{"token_endpoint_auth_method":"client_secret_basic","jwks":null}"#, of: "signer")
                let secret = try #require(changed.string("client_secret"))
                return await world.server.form("/oauth/token", ClientTokenFixture.grant, basic: "signer:\(secret)")
                    .string("access_token")
            case .grantRemoved:
                _ = await world.change(#"{"grant_types":["refresh_token"]}"#)
                _ = await world.change(#"{"grant_types":["client_credentials"]}"#)
                return try await world.token()
            case .deleted:
                #expect(await world.server.admin(.delete, path).status == 204)
                return nil
            case .deletedAndMadeAnew:
                #expect(await world.server.admin(.delete, path).status == 204)
                // The feed compares the deletion with the time of issue, to the second.
                world.server.moveClock(to: 2)
                let secret = try await world.server.makeClient(ClientTokenFixture.backend("backend"))
                return try await world.token(secret: secret)
            case .allRevoked:
                #expect(await world.server.admin(.post, "/admin/v1/revoke-all").status == 204)
                return try await world.token()
            case .revoked:
                let answer = await world.server.form("/oauth/revoke", "token=\(token)", basic: world.basic())
                #expect(answer.status == 200)
                return try await world.token()
            }
        }
    }

    @Test(
        "ended tokens are refused wherever one is accepted, on every node and by followers of the feed",
        arguments: End.allCases)
    func everywhere(_ end: End) async throws {
        try await ClientTokenFixture.with { world in
            let token = try await world.token(of: end.client)
            let nodes = [world.server, world.otherNode]
            for node in nodes {
                #expect(await world.places(accepting: token, on: node) == ClientTokenFixture.places)
            }
            #expect(try await !world.feedRefuses(token))
            let later = try await end.bringAbout(world, token)
            for node in nodes { #expect(await world.places(accepting: token, on: node) == []) }
            #expect(try await world.feedRefuses(token))
            if let later {
                for node in nodes {
                    #expect(await world.places(accepting: later, on: node) == ClientTokenFixture.places)
                }
                #expect(try await !world.feedRefuses(later))
            }
            let events = await world.server.admin(.get, "/admin/v1/events?limit=200").items
            let ends = events.filter { $0.string("event") == "client_tokens_ended" }
            #expect(ends.map { $0.string("reason") } == (end.reason.map { [$0] } ?? []))
            #expect(ends.first?.string("client_id") == (end.reason == nil || end == .allRevoked ? nil : end.client))
        }
    }

    @Test("a client that is deleted and made anew, again and again, revives no token of any earlier one")
    func madeAnew() async throws {
        try await ClientTokenFixture.with { world in
            var (tokens, secret) = ([String](), Optional<String>.none)
            for _ in 0..<3 {
                tokens.append(try await world.token(secret: secret))
                let rotated = await world.change(#"{"rotate_secret":true}"#).string("client_secret")
                tokens.append(try await world.token(secret: rotated))
                #expect(await world.server.admin(.delete, "/admin/v1/clients/backend").status == 204)
                secret = try await world.server.makeClient(ClientTokenFixture.backend("backend"))
            }
            for token in tokens {
                #expect(await world.server.call(.get, "/v1/verify", bearer: token).status == 401)
            }
            let epochs = try tokens.map { try world.claims(of: $0).integer("epoch") ?? 0 }
            #expect(zip(epochs, epochs.dropFirst()).allSatisfy { $0 < $1 })
        }
    }

    @Test("changes that end no secret and no key end no token, and tell nothing")
    func others() async throws {
        try await ClientTokenFixture.with { world in
            let (own, signed) = (try await world.token(), try await world.token(of: "signer"))
            let key = SigningKey.generate(.es256)
            let keys = await world.change(#"{"jwks":\#(world.keys())}"#, of: "signer")
            #expect(keys.status == 200)
            let kept = try await world.token(of: "signer")
            _ = await world.change(#"{"jwks":\#(world.keys(beside: [("new", key)]))}"#, of: "signer")
            for change in [
                #"{"client_name":"Backend"}"#, #"{"access_token_lifetime":600}"#,
                #"{"grant_types":["client_credentials","refresh_token"],"access_token_lifetime":null}"#,
                #"{"scope":"ssf.manage ssf.read read write"}"#,
            ] {
                _ = await world.change(change)
            }
            let tokens = try await world.server.logIn()
            #expect(await world.server.call(.get, "/v1/verify", bearer: own).status == 200)
            #expect(await world.server.call(.get, "/v1/verify", bearer: kept).status == 200)
            #expect(await world.server.call(.get, "/v1/verify", bearer: signed).status == 401)
            #expect(try await !world.feedRefuses(own))
            // No session of a user ends with a secret of the client.
            _ = await world.change(#"{"rotate_secret":true}"#)
            #expect(await world.server.refresh(tokens.refresh).status == 200)
            let types = await world.server.admin(.get, "/admin/v1/revocations").items.map { $0.string("type") }
            #expect(types == ["client_tokens_ended", "client_tokens_ended"])
        }
    }

    @Test("a token that is issued for a secret that ends meanwhile is never accepted")
    func meanwhile() async throws {
        try await ClientTokenFixture.with { world in
            let services = world.server.endpoints.services
            let secret = String(world.basic().split(separator: ":")[1])
            let client = try await services.clients.authenticate(
                id: "backend", secret: secret, method: .clientSecretBasic)
            _ = await world.change(#"{"rotate_secret":true}"#)
            let token = try await services.clientCredentials.issue(to: client, scope: nil).accessToken
            #expect(await world.places(accepting: token, on: world.server) == [])
            #expect(try await world.feedRefuses(token))
        }
    }

    @Test("a session of the client itself goes on when its own tokens end, and ends when all do")
    func sessions() async throws {
        try await ClientTokenFixture.with { world in
            _ = await world.change(#"{"grant_types":["client_credentials","refresh_token","password"]}"#)
            let password = EndpointsFixture.password.replacing(" ", with: "+")
            let form = "grant_type=password&username=anna&password=\(password)"
            let tokens = try Tokens(await world.server.form("/oauth/token", form, basic: world.basic()))
            let secret = try #require(await world.change(#"{"rotate_secret":true}"#).string("client_secret"))
            let refresh = "grant_type=refresh_token&refresh_token=\(tokens.refresh)"
            #expect(
                await world.server.form("/oauth/token", refresh, basic: world.basic("backend", secret)).status == 200)
            #expect(await world.server.admin(.post, "/admin/v1/revoke-all").status == 204)
            #expect(
                await world.server.form("/oauth/token", refresh, basic: world.basic("backend", secret)).string("reason")
                    == "revoked_by_admin")
        }
    }
}
