import Cryptography
import Foundation
import JOSE
import Testing

@testable import Sessions
@testable import SojournClient

/// What the SDK signs is verified by the server's own code.
struct ClientSignatureTests {
    private static let now: Int64 = 1_800_000_000
    private static let instant = Instant(secondsSinceEpoch: now)

    private let url = URL(string: "https://auth.example/oauth/token?x=1#f")

    private static func key(_ algorithm: SignatureAlgorithm) -> SoftwareKey { SoftwareKey(.generate(algorithm)) }

    private static func verifier() throws -> DPoPVerifier {
        DPoPVerifier(
            DPoPPolicy(), rootKeys: try #require(RootKeys([SecretKey.random()])))
    }

    @Test("a proof is accepted for its request, once", arguments: [SignatureAlgorithm.es256, .eddsa])
    func proof(algorithm: SignatureAlgorithm) async throws {
        let key = Self.key(algorithm)
        let text = try await DPoPProofMaker(key: key).proof(
            method: "POST", url: #require(url), issuedAt: Self.now)
        let verifier = try Self.verifier()
        let expected = ExpectedRequest(method: "POST", target: DPoPTarget("https://auth.example/oauth/token"))
        let proof = try verifier.check(text, for: expected, at: Self.instant)
        #expect(proof.keyThumbprint == key.publicKey.thumbprint)
        // The server takes a target with a query as well, other servers do not.
        let claims = try #require(SojournClient.Base64URL.decode(String(text.split(separator: ".")[1])))
        let target = JSONValue(parsing: claims)?.members?.text("htu")
        #expect(target == "https://auth.example/oauth/token")

        for other in [
            ExpectedRequest(method: "GET", target: expected.target),
            ExpectedRequest(method: "POST", target: DPoPTarget("https://auth.example/v1/logout")),
            ExpectedRequest(method: "POST", target: expected.target, accessToken: "a"),
        ] {
            #expect(throws: DPoPError.self) { try verifier.check(text, for: other, at: Self.instant) }
        }
        #expect(throws: DPoPError.tooOld) {
            try verifier.check(text, for: expected, at: Self.instant + .seconds(120))
        }
    }

    @Test("a proof names the access token and the nonce")
    func tokenAndNonce() async throws {
        let text = try await DPoPProofMaker(key: Self.key(.es256)).proof(
            method: "GET", url: #require(url), issuedAt: Self.now, accessToken: "token", nonce: "a\"b\\c\n\u{1}é")
        let proof = try DPoPProof(text)
        #expect(proof.accessTokenHash == DPoPProof.hash(ofAccessToken: "token"))
        #expect(proof.nonce == "a\"b\\c\n\u{1}é")
        let expected = ExpectedRequest(
            method: "GET", target: DPoPTarget("https://auth.example/oauth/token"), accessToken: "token")
        _ = try Self.verifier().check(text, for: expected, at: Self.instant)
    }

    @Test("each proof and each assertion has an identifier of its own, from the randomness that was given")
    func identifiers() async throws {
        let key = Self.key(.es256)
        let maker = DPoPProofMaker(key: key)
        let first = try await maker.proof(method: "GET", url: #require(url), issuedAt: 1)
        let second = try await maker.proof(method: "GET", url: #require(url), issuedAt: 1)
        #expect(try DPoPProof(first).id != DPoPProof(second).id)
        let fixed = DPoPProofMaker(key: key, random: { [UInt8](repeating: 7, count: $0) })
        let third = try await fixed.proof(method: "GET", url: #require(url), issuedAt: 1)
        #expect(try DPoPProof(third).id == "BwcHBwcHBwcHBwcHBwcHBw")
    }

    @Test("an assertion is accepted for its session at this server", arguments: [SignatureAlgorithm.es256, .eddsa])
    func assertion(algorithm: SignatureAlgorithm) async throws {
        let signingKey = SigningKey.generate(algorithm)
        let text = try await AssertionMaker(key: SoftwareKey(signingKey)).assertion(
            issuer: "s_1", subject: "u_\"1", audience: "https://auth.example", issuedAt: Self.now, lifetime: 120)
        let assertion = try KeyAssertion(text)
        #expect(assertion.issuer == "s_1")
        #expect(assertion.subject == "u_\"1")
        #expect(assertion.audience == ["https://auth.example"])
        #expect(assertion.expiry == Self.now + 120)
        #expect(assertion.notBefore == Self.now)
        #expect(assertion.isTimely(at: Self.instant, lead: .zero))
        #expect(!assertion.isTimely(at: Self.instant + .seconds(120), lead: .zero))
        try assertion.verify(with: signingKey.publicKey)
        #expect(throws: JWTError.self) { try assertion.verify(with: SigningKey.generate(algorithm).publicKey) }
    }

    @Test("no assertion lives longer than the server accepts")
    func lifetime() async throws {
        let maker = AssertionMaker(key: Self.key(.es256))
        let text = try await maker.assertion(
            issuer: "s", subject: "u", audience: "a", issuedAt: Self.now, lifetime: .max)
        #expect(try KeyAssertion(text).isTimely(at: Self.instant, lead: .zero))
        #expect(AssertionMaker.longestLifetime == DeviceKeyService.assertionLifetimeMax.components.seconds)
        let short = try await maker.assertion(
            issuer: "s", subject: "u", audience: "a", issuedAt: Self.now, lifetime: -5)
        #expect(try KeyAssertion(short).expiry == Self.now + 1)
    }

    @Test("the thumbprint is that of RFC 8037 and of the server")
    func thumbprint() throws {
        let x = try #require(SojournClient.Base64URL.decode("11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"))
        #expect(PublicJWK(curve: .ed25519, x: x).thumbprint == "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k")
        let key = SigningKey.generate(.es256)
        #expect(SoftwareKey(key).publicKey.thumbprint == JWK(key.publicKey).thumbprint)
        let parsed = try JSONDecoder().decode(JWK.self, from: Data(SoftwareKey(key).publicKey.json.utf8))
        #expect(parsed.verificationKey == key.publicKey)
    }

    @Test("the digests are those of the server, and sealed bytes open with their key and data alone")
    func crypto() throws {
        let message = Array("abc".utf8)
        #expect(SmallCrypto.sha256(message) == Cryptography.sha256(message))
        #expect(
            SmallCrypto.hmacSHA256(key: [1, 2], message: message) == HMACSHA256Key([1, 2]).authenticate(message))
        #expect(SmallCrypto.randomBytes(count: 32) != SmallCrypto.randomBytes(count: 32))
        let key = SmallCrypto.randomBytes(count: 32)
        let sealed = try #require(SmallCrypto.seal(message, key: key, associatedData: [1]))
        #expect(SmallCrypto.open(sealed, key: key, associatedData: [1]) == message)
        #expect(SmallCrypto.open(sealed, key: key, associatedData: [2]) == nil)
        #expect(SmallCrypto.open(Array(sealed.dropLast()), key: key, associatedData: [1]) == nil)
        #expect(SmallCrypto.open(sealed, key: SmallCrypto.randomBytes(count: 32), associatedData: [1]) == nil)
        #expect(SmallCrypto.seal(message, key: [1], associatedData: []) == nil)
        #expect(SmallCrypto.open(sealed, key: [1], associatedData: []) == nil)
    }
}
