import Cryptography
import Federation
import HTTP
import HTTPClient
import HostileServer
import JOSE
import Sessions
import Testing

@testable import Endpoints

/// ID tokens, and keys, that an attacker made in the hope of being believed, at both calls that take them.
@Suite struct HostileIDTokenTests {
    private static let exchange = "urn:ietf:params:oauth:grant-type:token-exchange"
    private static let good = #"{"alg":"ES256","kid":"k1"}"#

    /// The statuses that `/v1/login` and `/oauth/token` have for a token. A form says `+` by `%2B`.
    private func present(_ token: String, _ world: ProviderFixture) async -> [Int] {
        let json = FakeProvider.text(["provider": "acme", "id_token": token].merging(["client_id": "app"]) { $1 })
        let login = await world.server.call(.post, "/v1/login", json.dropLast() + #","device":{"id":"d"}}"#)
        let escaped = token.utf8.reduce(into: "") { text, byte in
            text += "%" + Hex.encode([byte])
        }
        let exchanged = await world.server.form(
            "/oauth/token",
            "grant_type=\(Self.exchange)&client_id=app&subject_token=\(escaped)"
                + "&subject_token_type=urn:ietf:params:oauth:token-type:id_token")
        return [login.status, exchanged.status]
    }

    private static func with(
        _ change: (inout IdentityProvider) -> Void = { _ in }, _ body: (ProviderFixture) async throws -> Void
    ) async throws {
        try await ProviderFixture.with(change) { world in
            _ = try await world.server.makeClient(
                #"{"client_id":"app","token_endpoint_auth_method":"none","grant_types":["refresh_token","login","\#(exchange)"]}"#
            )
            try await body(world)
        }
    }

    /// Signed by the provider's key, whatever they say.
    private static func signed(_ header: String, _ payload: String, _ world: ProviderFixture) -> String {
        let input = [header, payload].map { Base64URL.encode(Array($0.utf8)) }.joined(separator: ".")
        return input + "." + Base64URL.encode(world.provider.key.sign(Array(input.utf8)))
    }

    @Test(arguments: [
        "", "null", "[]", #""ES256""#, "{}", #"{"kid":"k1"}"#, #"{"alg":1,"kid":"k1"}"#,
        #"{"alg":["ES256"],"kid":"k1"}"#,
        #"{"alg":null,"kid":"k1"}"#, #"{"alg":"None","kid":"k1"}"#, #"{"alg":"","kid":"k1"}"#,
        #"{"alg":"ES256 ","kid":"k1"}"#, #"{"alg":"ES384","kid":"k1"}"#, #"{"alg":"PS256","kid":"k1"}"#,
        #"{"alg":"ES256","kid":"k1"}x"#, #"{"alg":"ES256","kid":"k1""#, #"{"alg":"ES256","kid":"k1",}"#,
        #"{alg:"ES256","kid":"k1"}"#, #"{'alg':'ES256','kid':'k1'}"#, #"{"alg":"ES256","kid":"k1"/*:*/}"#,
        "{\"alg\":\"ES256\",\"kid\":\"k1\"}\0", "\u{feff}{\"alg\":\"ES256\",\"kid\":\"k1\"}",
        #"{"alg":"ES256","kid":"k1","typ":1}"#, #"{"alg":"ES256","kid":"k1","typ":""}"#,
        #"{"alg":"ES256","kid":"k1","typ":"dpop+jwt"}"#, #"{"alg":"ES256","kid":"k1","crit":[]}"#,
        #"{"alg":"ES256","kid":"k1","crit":null}"#, #"{"alg":"ES256","kid":"k1","b64":false}"#,
        #"{"alg":"none","kid":"k1","alg":"ES256"}"#, #"{"alg":"ES256","kid":"k1","\u0061lg":"none"}"#,
        #"{"alg":"ES256","kid":"k1","kid":"k2"}"#, #"{"alg":"ES256","kid":"../k1"}"#,
        #"{"alg":"ES256","kid":"k1\u0000"}"#,
        #"{"alg":"ES256","kid":"' OR 1=1"}"#, #"{"alg":"ES256","kid":""}"#, #"{"alg":"ES256","kid":null}"#,
        #"{"alg":"ES256","kid":"k1","z":[[[[[[[[1]]]]]]]]}"#,
    ])
    func headers_areRefused(_ header: String) async throws {
        try await Self.with { world in
            let token = Self.signed(header, FakeProvider.text(try world.provider.claims()), world)
            #expect(await present(token, world) == [401, 400], "\(header)")
        }
    }

    @Test(arguments: [
        "", "null", "[]", "1", #"{"sub":}"#, "{\"sub\":\"a\tb\"}", "{}", String(repeating: "[", count: 5000),
        "{\"a\":" + String(repeating: "[", count: 5000), "{\"a\":[1" + String(repeating: ",1", count: 1000) + "]}",
    ])
    func payloads_areRefused(_ payload: String) async throws {
        try await Self.with { world in
            #expect(await present(Self.signed(Self.good, payload, world), world) == [401, 400])
            // The same within claims that are good.
            guard payload.hasPrefix("{"), payload != "{}" else { return }
            let claims = FakeProvider.text(try world.provider.claims()).dropLast()
            #expect(
                await present(Self.signed(Self.good, claims + "," + payload.dropFirst(), world), world) == [
                    401, 400,
                ])
        }
    }

    @Test func forms_areRefused() async throws {
        try await Self.with { world in
            let good = try world.provider.token()
            let parts = good.split(separator: ".").map(String.init)
            let signature = Base64URL.decode(parts[2]) ?? []
            let nobody = [UInt8](repeating: 0, count: 64)
            for bad in [
                ".", "..", "...", "a.b", parts[0] + "." + parts[1], parts[0] + "." + parts[1] + ".", good + ".",
                "." + good,
                good + ".x", good + "=", good + " ", " " + good, good + "\n", "é" + good, "Bearer " + good,
                parts[0] + ".." + parts[2], parts[0] + "=." + parts[1] + "." + parts[2],
                // Bits that base64url does not use.
                parts[0] + "." + parts[1] + "." + parts[2].dropLast() + "B",
                // Edge values of r and s.
                parts[0] + "." + parts[1] + "." + Base64URL.encode(nobody),
                parts[0] + "." + parts[1] + "."
                    + Base64URL.encode(Array(signature.prefix(32)) + [UInt8](repeating: 0, count: 32)),
                parts[0] + "." + parts[1] + "." + Base64URL.encode(signature + [0]),
                parts[0] + "." + parts[1] + "." + Base64URL.encode(Array(signature.dropLast())),
            ] {
                #expect(await present(bad, world) == [401, 400], "\(bad)")
            }
            #expect(
                await present(String(repeating: "a", count: 40_000), world).allSatisfy { (400..<500).contains($0) })
            #expect(await present(good, world)[0] == 200)
        }
    }

    /// The first is a good key, so that the others are refused for what they are.
    @Test(arguments: HostileRSA.all.indices) func rsaKeys(_ index: Int) async throws {
        let key = HostileRSA.all[index]
        try await with(rsa: key, publishing: key.jwk) { world in
            #expect(await present(key.token, world)[0] == (index == 0 ? 200 : 401), "\(key.name)")
        }
    }

    /// Around a good key: numbers in another form, a key beside it, a wrong use.
    @Test(arguments: [
        #"{"kty":"RSA","kid":"r1","e":"AQAB","n":"AA{n}"}"#, #"{"kty":"RSA","kid":"r1","e":"AAEAAQ","n":"{n}"}"#,
        #"{"kty":"RSA","kid":"r1","e":"AQAB","n":"{n}=="}"#, #"{"kty":"RSA","kid":"r1","e":"AQAA","n":"{n}"}"#,
        #"{"kty":"RSA","kid":"r1","e":"AQ","n":"{n}"}"#, #"{"kty":"RSA","kid":"r1","e":"","n":"{n}"}"#,
        #"{"kty":"RSA","kid":"r1","e":65537,"n":"{n}"}"#, #"{"kty":"RSA","kid":"r1","n":"{n}"}"#,
        #"{"kty":"rsa","kid":"r1","e":"AQAB","n":"{n}"}"#, #"{"kty":"RSA","kid":"R1","e":"AQAB","n":"{n}"}"#,
        #"{"kty":"RSA","kid":"r1","e":"AQAB","n":"{n}","alg":"PS256"}"#,
        #"{"kty":"RSA","kid":"r1","e":"AQAB","n":"{n}","alg":"RSA-OAEP"}"#,
        #"{"kty":"RSA","kid":"r1","e":"AQAB","n":"{n}","d":"AQAB"}"#,
        #"{"kty":"oct","kid":"r1","k":"{n}"}"#, #"{"kty":"oct","kid":"r1","k":"{n}","e":"AQAB","n":"{n}"}"#,
        #"{"kty":"RSA","e":"AQAB","n":"{n}"}"#, #"{"kty":"RSA","kid":7,"e":"AQAB","n":"{n}"}"#,
        #"{"kty":"RSA","kid":"r1","e":"AQAB","n":"gA{A}AQ"}"#, #"{"kty":"RSA","kid":"r1","e":"AQAB","n":"gA{A}AA"}"#,
        #"{"kty":"RSA","kid":"r1","e":"AQAB","n":"{n}"},{"kty":"RSA","kid":"r1","e":"AQAB","n":"{n}"}"#,
        #"{"kty":"EC","kid":"r1","crv":"P-256","x":"AA","y":"AA"}"#,
    ])
    func keysOfAnotherForm_areNone(_ published: String) async throws {
        let key = HostileRSA.all[0]
        let text = published.replacing("{n}", with: key.n)
            .replacing("{A}", with: String(repeating: "A", count: 338))
        try await with(rsa: key, publishing: text) { world in
            #expect(await present(key.token, world) == [401, 400])
        }
    }

    /// Keys of no use are passed over, as RFC 7517 section 5 says; a set of more than 64, or nested deep, is refused.
    @Test(arguments: [
        (#"{"kty":"oct","kid":"r1","k":"AAAA"}"#, 200),
        (#"{"kty":"EC","kid":"r1","crv":"P-256","x":"AA","y":"AA"}"#, 200),
        (#"{"kty":"EC","kid":"r1","crv":"P-384","x":"AA","y":"AA"}"#, 200), ("7", 200), ("null", 200),
        ("[[[[]]]]", 200),
        (#"{"kty":"RSA","kid":"r1","use":"enc","e":"AQAB","n":"{n}"}"#, 200),
        ([String](repeating: "{}", count: 63).joined(separator: ","), 200),
        ([String](repeating: "{}", count: 64).joined(separator: ","), 503),
        (String(repeating: "[", count: 7) + String(repeating: "]", count: 7), 503),
        (String(repeating: "[", count: 50_000) + String(repeating: "]", count: 50_000), 503),
        (#"{"kty":"oct","kty":"oct"}"#, 503),
    ])
    func keysBesideAGoodOne(_ others: String, status: Int) async throws {
        let key = HostileRSA.all[0]
        for text in [others + "," + key.jwk, key.jwk + "," + others] {
            try await with(rsa: key, publishing: text.replacing("{n}", with: key.n)) { world in
                #expect(await present(key.token, world)[0] == status)
            }
        }
    }

    /// A point that is not on the curve, and coordinates of another length; the header names the only key, or none.
    @Test func pointsOffTheCurve_areNoKeys() async throws {
        for kid in [#""kid":"k1","#, ""] {
            for edit in [{ $0[31] ^= 1 }, { $0.insert(0, at: 0) }, { $0.removeLast() }]
                as [@Sendable (inout [UInt8]) -> Void]
            {
                try await Self.with { world in
                    guard case .p256(let x, var y) = world.provider.key.publicKey.coordinates else { return }
                    edit(&y)
                    let jwk =
                        #"{"kty":"EC",\#(kid)"crv":"P-256","x":"\#(Base64URL.encode(x))","y":"\#(Base64URL.encode(y))"}"#
                    world.provider.change { $0.keys = [.json(#"{"keys":[\#(jwk)]}"#)] }
                    let token = try world.provider.token(header: #"{\#(kid)"alg":"ES256"}"#)
                    #expect(await present(token, world) == [401, 400])
                }
            }
        }
    }

    /// A token that names its key does not get the only one, and one that names none gets it only while it is the only one.
    @Test(arguments: [("k1", "k1", 200), ("", "k1", 200), ("", "", 200), ("k1", "", 401)])
    func names(_ inToken: String, _ inSet: String, status: Int) async throws {
        try await Self.with { world in
            let jwk = FakeProvider.text(JWK(publishing: world.provider.key.publicKey, kid: "k1"))
            let published = inSet.isEmpty ? jwk.replacing(#""kid":"k1","#, with: "") : jwk
            #expect(published.contains("kid") == !inSet.isEmpty)
            world.provider.change { $0.keys = [.json(#"{"keys":[\#(published)]}"#)] }
            let header = inToken.isEmpty ? #"{"alg":"ES256"}"# : #"{"alg":"ES256","kid":"\#(inToken)"}"#
            let token = try world.provider.token(header: header)
            #expect(await present(token, world)[0] == status)
        }
    }

    private func with(
        rsa key: HostileRSA, publishing keys: String, _ body: (ProviderFixture) async throws -> Void
    ) async throws {
        try await Self.with({
            $0.keysURL = OutboundURL($0.issuer + "/keys", plainLoopback: true)
            $0.discoveryURL = nil
            $0.issuer = HostileRSA.issuer
        }) { world in
            world.provider.change { $0.keys = [.json(#"{"keys":[\#(keys)]}"#)] }
            try await body(world)
        }
    }
}
