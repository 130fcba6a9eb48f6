import Cryptography
import Federation
import HTTP
import HTTPClient
import HostileServer
import JOSE
import JSON
import Sessions
import Testing

@testable import Endpoints

/// What a provider publishes, and what it does when it is down, or means harm.
@Suite struct ProviderKeyTests {
    @Test func keys_areFetchedOnce_forManyLoginsAtOnce() async throws {
        try await ProviderFixture.with { world in
            let (server, provider) = (world.server, world.provider)
            let tokens = try (0..<20).map { try provider.token(#"{"sub":"user-\#($0)"}"#) }
            let statuses = await withTaskGroup(of: Int.self) { group in
                for (number, token) in tokens.enumerated() {
                    group.addTask {
                        await server.call(
                            .post, "/v1/login",
                            #"{"provider":"acme","id_token":"\#(token)","device":{"id":"d\#(number)"}}"#
                        ).status
                    }
                }
                return await group.reduce(into: []) { $0.append($1) }
            }
            #expect(statuses == [Int](repeating: 200, count: 20))
            #expect(provider.keyRequests == 1)
            #expect(provider.requests.count == 2)
        }
    }

    @Test func unknownKeys_areAskedForOncePerHalfMinute_andFoundAfterARotation() async throws {
        try await ProviderFixture.with { world in
            try await world.expect(200)
            for number in 0..<5 {
                let answer = try await world.logIn(unknown: number)
                #expect(answer.text.contains("does not publish"))
            }
            // The first fetch was a moment ago.
            #expect(world.provider.keyRequests == 1)
            world.server.moveClock(to: 30)
            for number in 0..<5 { _ = try await world.logIn(unknown: number) }
            #expect(world.provider.keyRequests == 2)
            // The provider changes its key: the next unknown one finds it.
            world.provider.change { $0.published.append(JWK(publishing: world.provider.key.publicKey, kid: "k2")) }
            world.server.moveClock(to: 60)
            try await world.expect(200, at: 60, kid: "k2")
            #expect(world.provider.keyRequests == 3)
        }
    }

    @Test func anOldTokenOrOneForAnother_fetchesNoKeys() async throws {
        try await ProviderFixture.with { world in
            for claims in [#"{"iss":"x"}"#, #"{"aud":"x"}"#, #"{"exp":1}"#, #"{"iat":1}"#, #"{"nonce":"n"}"#] {
                try await world.expect(401, claims)
            }
            #expect(world.provider.requests.isEmpty)
        }
    }

    @Test func withdrawnKeys_areTakenUntilTheirLifetimeEnds() async throws {
        try await ProviderFixture.with { world in
            try await world.expect(200)
            world.provider.change { $0.published = [JWK(publishing: SigningKey.generate(.es256).publicKey, kid: "k2")] }
            world.server.moveClock(to: 3599)
            try await world.expect(200, at: 3599)
            world.server.moveClock(to: 3600)
            try await world.expect(401, at: 3600)
        }
    }

    @Test func keys_serveStale_whileTheProviderIsDown_butNotForEver() async throws {
        try await ProviderFixture.with({ $0.staleKeyLifetime = .seconds(7200) }) { world in
            try await world.expect(200)
            world.provider.change {
                $0.discovery = [.say("HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n")]
            }
            for seconds: Int64 in [3600, 3601, 10_799] {
                world.server.moveClock(to: seconds)
                try await world.expect(200, at: seconds)
            }
            // Not one for each login: the last one was a moment before.
            #expect(world.provider.requests.count == 4)
            // A key that is not known could be new.
            try await world.expect(503, at: 10_799, kid: "new")
            world.server.moveClock(to: 10_800)
            let answer = try await world.present(world.provider.token(at: EndpointsFixture.start + 10_800))
            #expect(answer.status == 503)
            #expect(answer.string("code") == "identity_provider_unavailable")
            world.provider.change { $0.discovery = nil }
            world.server.moveClock(to: 10_830)
            try await world.expect(200, at: 10_830)
        }
    }

    /// What the discovery document, or the key set, says; the login is answered 503 and told to try again.
    @Test(
        arguments: [
            (nil, [.hang]),
            (nil, [.say("HTTP/1.1 200 OK\r\n\r\n{\"keys\":["), .endless("{\"kty\":\"EC\"},")]),
            (nil, [.say("HTTP/1.1 302 Found\r\nLocation: /other\r\nContent-Length: 0\r\n\r\n")]),
            (nil, [.say("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")]),
            (nil, [.json("")]), (nil, [.json("[]")]), (nil, [.json("{}")]), (nil, [.json(#"{"keys":{}}"#)]),
            (nil, [.json(#"{"keys":"x"}"#)]), (nil, [.json(#"{"keys":[],"keys":[]}"#)]),
            (nil, [.json(#"{"keys":[\#(String(repeating: "{},", count: 64)){}]}"#)]),
            (nil, [.json(String(repeating: "[", count: 100_000))]), (nil, [.say("<html>")]), (nil, []),
            ([.json("{}")], nil),
            ([.json(#"{"issuer":"https://evil.example","jwks_uri":"https://evil.example/k"}"#)], nil),
            ([.say("HTTP/1.1 301 Moved Permanently\r\nLocation: /x\r\nContent-Length: 0\r\n\r\n")], nil),
            ([.hang], nil),
        ] as [([HostileServer.Step]?, [HostileServer.Step]?)])
    func hostileDocuments_areNoKeys(_ discovery: [HostileServer.Step]?, _ keys: [HostileServer.Step]?) async throws {
        try await ProviderFixture.with { world in
            world.provider.change {
                $0.discovery = discovery
                $0.keys = keys
            }
            let answer = try await world.logIn()
            #expect(answer.status == 503, "\(answer.text)")
            // The others are not held up.
            let other = try world.other.token()
            #expect(await world.present(other, provider: "globex").status == 200)
        }
    }

    @Test(arguments: [
        #""jwks_uri":"http://127.0.0.1:1/keys""#, #""jwks_uri":"https://127.0.0.1/keys""#,
        #""jwks_uri":"file:///etc/passwd""#, #""jwks_uri":"http://169.254.169.254/latest""#, #""jwks_uri":7"#,
        #""x":1"#,
    ])
    func keysElsewhere_areNotFetched(_ member: String) async throws {
        try await ProviderFixture.with { world in
            let issuer = world.provider.issuer
            world.provider.change { $0.discovery = [.json(#"{"issuer":"\#(issuer)",\#(member)}"#)] }
            try await world.expect(503)
            #expect(world.provider.keyRequests == 0)
        }
    }

    @Test func keysOfAnotherOrigin_areNotFetched_thoughTheyAreThere() async throws {
        try await ProviderFixture.with { world in
            let (issuer, elsewhere) = (world.provider.issuer, world.other.issuer)
            world.provider.change {
                $0.discovery = [.json(#"{"issuer":"\#(issuer)","jwks_uri":"\#(elsewhere)/keys"}"#)]
            }
            try await world.expect(503)
            #expect(world.other.keyRequests == 0)
        }
    }

    @Test(arguments: [#""issuer":"https://evil.example","#, #""issuer":null,"#, ""])
    func aDocumentOfAnotherIssuer_isNotFollowed(_ member: String) async throws {
        try await ProviderFixture.with { world in
            let issuer = world.provider.issuer
            world.provider.change { $0.discovery = [.json(#"{\#(member)"jwks_uri":"\#(issuer)/keys"}"#)] }
            try await world.expect(503)
            #expect(world.provider.keyRequests == 0)
        }
    }

    @Test func keysThatAreNotForSignatures_orNamedTwice_areNotUsed() async throws {
        let stranger = SigningKey.generate(.es256)
        for edit: @Sendable (String) -> String in [
            { $0.replacing(#""use":"sig""#, with: #""use":"enc""#) },
            { $0.replacing(#""alg":"ES256""#, with: #""alg":"ES384""#) },
            { $0.replacing(#""use":"sig""#, with: #""key_ops":["sign"]"#) },
            {
                $0.replacing("]}", with: "," + FakeProvider.text(JWK(publishing: stranger.publicKey, kid: "k1")) + "]}")
            },
            { $0.replacing(#""kty":"EC""#, with: #""kty":"oct","k":"AAAA""#) },
            { $0.replacing(#""kty":"EC""#, with: #""kty":"EC","d":"AAAA""#) },
        ] {
            try await ProviderFixture.with { world in
                let text = FakeProvider.text(JWKSet([JWK(publishing: world.provider.key.publicKey, kid: "k1")]))
                #expect(edit(text) != text)
                world.provider.change { $0.keys = [.json(edit(text))] }
                try await world.expect(401)
            }
        }
    }

    @Test func configuredKeys_needNoDiscovery() async throws {
        try await ProviderFixture.with({
            $0.keysURL = OutboundURL($0.issuer + "/keys", plainLoopback: true)
            $0.discoveryURL = nil
        }) { world in
            try await world.expect(200)
            #expect(world.provider.requests.count == 1)
        }
    }
}

extension ProviderFixture {
    /// By a token that was just issued, so many seconds after the start.
    fileprivate func expect(_ status: Int, at seconds: Int64, kid: String? = nil) async throws {
        let answer = await present(try provider.token(at: EndpointsFixture.start + seconds, kid: kid))
        #expect(answer.status == status, "\(answer.text)")
    }

    /// By a token of an unknown key.
    fileprivate func logIn(unknown number: Int) async throws -> Answer {
        await present(try provider.token(kid: "no-\(number)"))
    }
}
