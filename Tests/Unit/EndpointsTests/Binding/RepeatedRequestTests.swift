import Cryptography
import HTTP
import JOSE
import JSON
import SQLiteStore
import Sessions
import Testing

@testable import Endpoints

/// Browsers and networks repeat a POST by themselves, proof and all, when a connection breaks. A refresh that arrives twice is
/// answered twice, and has one effect.
@Suite struct RepeatedRequestTests {
    /// The two calls that refresh.
    enum Renewal: CaseIterable {
        case grant, json

        var path: String { self == .grant ? "/oauth/token" : "/v1/refresh" }

        /// The request with that token and proof.
        func request(_ token: String, _ proof: String, more: String = "") -> Request {
            var fields: Fields = ["DPoP": proof]
            let body: String
            switch self {
            case .grant:
                fields.append("Content-Type", "application/x-www-form-urlencoded")
                body = "grant_type=refresh_token&refresh_token=\(token)\(more)"
            case .json:
                fields.append("Content-Type", "application/json")
                body = #"{"refresh_token":"\#(token)"\#(more)}"#
            }
            return Request(.post, path, fields: fields, body: Array(body.utf8))
        }
    }

    private static func row(_ server: EndpointsFixture, _ tokens: Tokens) async throws -> SessionRecord? {
        try await server.store.session(#require(Identifier<Session>(tokens.sessionID)))
    }

    @Test("A repeated refresh gets the same refresh token and another access token", arguments: Renewal.allCases)
    func same(_ renewal: Renewal) async throws {
        try await EndpointsFixture.with { server in
            let device = ProvingDevice()
            let tokens = try await server.logIn(device)
            server.moveClock(to: 1000)
            let request = renewal.request(tokens.refresh, device.proof(server, .post, renewal.path))
            let first = try Tokens(await server.send(request))
            #expect(first.refresh != tokens.refresh)
            let row = try await Self.row(server, tokens)
            for seconds in [1000, 1001, 1060] as [Int64] {
                server.moveClock(to: seconds)
                let again = try Tokens(await server.send(request))
                #expect(again.refresh == first.refresh && again.access != first.access)
                #expect(again.answer.string("token_type") == "DPoP")
                #expect(try await Self.row(server, tokens) == row)
                let use = await server.call(.get, "/v1/me", token: again.access, by: device)
                #expect(use.status == 200, "\(use.text)")
                let copied = await server.call(.get, "/v1/me", bearer: again.access)
                #expect(copied.status == 401, "the access token is good with the key alone")
            }
            server.moveClock(to: 1061)
            #expect(await server.send(request).word == "use_dpop_nonce", "the proof is as old as any")
        }
    }

    @Test("Of many at once all get the same refresh token", arguments: Renewal.allCases)
    func atOnce(_ renewal: Renewal) async throws {
        try await EndpointsFixture.with { server in
            let device = ProvingDevice()
            let tokens = try await server.logIn(device)
            server.moveClock(to: 1000)
            let request = renewal.request(tokens.refresh, device.proof(server, .post, renewal.path))
            let children = await withTaskGroup(of: String?.self) { group in
                for _ in 1...8 { group.addTask { await server.send(request).string("refresh_token") } }
                return await group.reduce(into: Set<String?>()) { $0.insert($1) }
            }
            #expect(children.count == 1 && !children.contains(nil))
        }
    }

    @Test("A repetition is refused once the client has gone on", arguments: Renewal.allCases)
    func rotatedSince(_ renewal: Renewal) async throws {
        try await EndpointsFixture.with { server in
            let changed = await server.admin(.put, "/admin/v1/settings/sessions", #"{"rotation_interval":1}"#)
            #expect(changed.status == 200)
            let device = ProvingDevice()
            let tokens = try await server.logIn(device)
            server.moveClock(to: 1000)
            let request = renewal.request(tokens.refresh, device.proof(server, .post, renewal.path))
            let first = try Tokens(await server.send(request))
            server.moveClock(to: 1010)
            let second = try Tokens(await server.refresh(first.refresh, by: device))
            #expect(second.refresh != first.refresh)
            let row = try await Self.row(server, tokens)
            let again = await server.send(request)
            #expect(again.status == 400 && again.text.contains("The proof was used before."), "\(again.text)")
            #expect(try await Self.row(server, tokens) == row)
        }
    }

    @Test(
        "A thief with a captured request gets nothing by another body, credential, call or key",
        arguments: Renewal.allCases)
    func thief(_ renewal: Renewal) async throws {
        try await EndpointsFixture.with { server in
            let device = ProvingDevice()
            let tokens = try await server.logIn(device)
            let other = try Tokens(
                await server.call(
                    .post, "/v1/login", EndpointsFixture.loginBody(device: "tablet"),
                    fields: ["DPoP": device.proof(server, .post, "/v1/login")]))
            server.moveClock(to: 1000)
            let proof = device.proof(server, .post, renewal.path)
            let request = renewal.request(tokens.refresh, proof)
            let first = try Tokens(await server.send(request))
            let row = try await Self.row(server, tokens)
            var tries: [(String, Request)] = [
                ("the child", renewal.request(first.refresh, proof)),
                ("another session's token", renewal.request(other.refresh, proof)),
                ("a blank more", renewal.request(tokens.refresh, proof, more: renewal == .grant ? "&x=" : " ")),
            ]
            if renewal == .grant {
                tries.append(("a narrower scope", renewal.request(tokens.refresh, proof, more: "&scope=read")))
                tries.append(("an API", renewal.request(tokens.refresh, proof, more: "&resource=https://api.example")))
                tries.append(("a password", renewal.request(tokens.refresh, proof, more: "&password=correct+horse")))
            }
            var credential = request
            credential.fields.append("Authorization", "Basic bW9iaWxlOg==")
            tries.append(("a credential", credential))
            let elsewhere: Renewal = renewal == .grant ? .json : .grant
            tries.append(("the other call", elsewhere.request(tokens.refresh, proof)))
            let parts = proof.split(separator: ".").map(String.init)
            let thief = ProvingDevice()
            let claims = String(decoding: Base64URL.decode(parts[1]) ?? [], as: UTF8.self)
            let jti = try #require(JSONValue(text: Array(claims.utf8))?["jti"]?.string)
            let stolen = thief.proof(server, .post, renewal.path) { $0.set("jti", jti) }
            tries.append(("the thief's key", renewal.request(tokens.refresh, stolen)))
            tries.append(("no proof", renewal.request(tokens.refresh, "x")))
            for (name, attempt) in tries {
                let answer = await server.send(attempt)
                #expect((400...401).contains(answer.status), "\(name): \(answer.text)")
                #expect(answer.string("access_token") == nil && answer.string("refresh_token") == nil, "\(name)")
                #expect(try await Self.row(server, tokens) == row, "\(name)")
            }
            #expect(await server.send(request).string("refresh_token") == first.refresh)
        }
    }

    @Test("A repeated refresh has no ID token, which would need no key")
    func withoutIDToken() async throws {
        try await EndpointsFixture.with { server in
            _ = await server.admin(.patch, "/admin/v1/clients/mobile", #"{"scope":"openid offline_access"}"#)
            let device = ProvingDevice()
            let tokens = try await server.logIn(device)
            server.moveClock(to: 1000)
            let request = Renewal.grant.request(tokens.refresh, device.proof(server, .post, "/oauth/token"))
            #expect(await server.send(request).string("id_token") != nil)
            let again = await server.send(request)
            #expect(again.status == 200 && again.string("id_token") == nil, "\(again.text)")
        }
    }

    @Test("A client with nonces can repeat a refresh until its nonce is over")
    func withNonce() async throws {
        try await EndpointsFixture.with { server in
            try await server.demandNonce(of: "mobile")
            let device = ProvingDevice()
            func nonce() -> String? {
                server.context.proofs.nonce(curing: .nonceMissing, at: server.context.clock.now)
            }
            let tokens = try await server.logIn(device, nonce: nonce())
            server.moveClock(to: 1000)
            let proof = device.proof(server, .post, "/oauth/token", nonce: nonce())
            let request = Renewal.grant.request(tokens.refresh, proof)
            let first = try Tokens(await server.send(request))
            server.moveClock(to: 1100)
            #expect(await server.send(request).string("refresh_token") == first.refresh)
            server.moveClock(to: 1240)
            #expect(await server.send(request).word == "use_dpop_nonce")
        }
    }
}
