import Cryptography
import HTTP
import JOSE
import Synchronization
import Testing

@testable import Endpoints

/// A proof of possession before it is signed: members of header and claims as JSON text.
struct ProofDraft: Sendable {
    var header: [String: String]
    var claims: [String: String]
    /// What stands in the place of the signature, if not one of the key.
    var signature: [UInt8]?

    /// Sets a claim to a string.
    mutating func set(_ claim: String, _ text: String) { claims[claim] = "\"\(text)\"" }
}

/// A device with a key, which makes good proofs, and others when a test edits them.
struct ProvingDevice: Sendable {
    let key: SigningKey

    init(_ algorithm: SignatureAlgorithm = .es256) { key = SigningKey.generate(algorithm) }

    var thumbprint: String { JWK(key.publicKey).thumbprint }

    /// The public key as JSON.
    var jwk: String {
        switch key.publicKey.coordinates {
        case .p256(let x, let y):
            #"{"kty":"EC","crv":"P-256","x":"\#(Base64URL.encode(x))","y":"\#(Base64URL.encode(y))"}"#
        case .ed25519(let x): #"{"kty":"OKP","crv":"Ed25519","x":"\#(Base64URL.encode(x))"}"#
        case .p384, .p521: "{}"
        case .rsa(let n, let e): #"{"kty":"RSA","n":"\#(Base64URL.encode(n))","e":"\#(Base64URL.encode(e))"}"#
        }
    }

    /// A proof for a request to that path, made now, with its own id.
    func proof(
        _ server: EndpointsFixture, _ method: Method, _ target: String, token: String? = nil, nonce: String? = nil,
        edit: (inout ProofDraft) -> Void = { _ in }
    ) -> String {
        var draft = ProofDraft(
            header: ["typ": #""dpop+jwt""#, "alg": #""\#(key.algorithm.rawValue)""#, "jwk": jwk],
            claims: ["iat": "\(server.environment.now.load(ordering: .relaxed))"])
        draft.set("jti", Base64URL.encode(randomBytes(count: 12)))
        draft.set("htm", method.rawValue)
        draft.set("htu", target.hasPrefix("/") ? EndpointsFixture.issuer + target : target)
        if let token { draft.set("ath", DPoPProof.hash(ofAccessToken: token)) }
        if let nonce { draft.set("nonce", nonce) }
        edit(&draft)
        return sign(draft)
    }

    /// An assertion for the session of `tokens`, made now, with its own id (RFC 7523).
    func assertion(_ server: EndpointsFixture, _ tokens: Tokens, edit: (inout ProofDraft) -> Void = { _ in }) -> String
    {
        let now = server.environment.now.load(ordering: .relaxed)
        var draft = ProofDraft(
            header: ["alg": #""\#(key.algorithm.rawValue)""#], claims: ["iat": "\(now)", "exp": "\(now + 60)"])
        draft.set("iss", tokens.sessionID)
        draft.set("sub", tokens.userID)
        draft.set("aud", EndpointsFixture.issuer)
        draft.set("jti", Base64URL.encode(randomBytes(count: 12)))
        edit(&draft)
        return sign(draft)
    }

    /// Any JWT signed by the key.
    func sign(_ draft: ProofDraft) -> String {
        let input = [draft.header, draft.claims].map { Base64URL.encode(Array(Self.json($0).utf8)) }
            .joined(separator: ".")
        return input + "." + Base64URL.encode(draft.signature ?? key.sign(Array(input.utf8)))
    }

    private static func json(_ members: [String: String]) -> String {
        "{" + members.sorted { $0.key < $1.key }.map { "\"\($0.key)\":\($0.value)" }.joined(separator: ",") + "}"
    }
}

extension EndpointsFixture {
    /// Logs anna in on a device, and binds the session to its key.
    func logIn(_ device: ProvingDevice, client: String = "mobile", nonce: String? = nil) async throws -> Tokens {
        let answer = await call(
            .post, "/v1/login", Self.loginBody(client: client),
            fields: ["DPoP": device.proof(self, .post, "/v1/login", nonce: nonce)])
        #expect(answer.status == 200)
        return try Tokens(answer)
    }

    /// The body of a login of anna.
    static func loginBody(client: String = "mobile", device: String = "phone-1") -> String {
        #"{"username":"anna","password":"\#(password)","client_id":"\#(client)","device":{"id":"\#(device)"}}"#
    }

    /// Refreshes at the token endpoint with a proof.
    func refresh(_ token: String, by device: ProvingDevice, nonce: String? = nil) async -> Answer {
        await refresh(token, fields: ["DPoP": device.proof(self, .post, "/oauth/token", nonce: nonce)])
    }

    /// A call with a token that is bound to the key of `device`.
    func call(
        _ method: Method, _ path: String, token: String, by device: ProvingDevice, nonce: String? = nil
    ) async -> Answer {
        await call(
            method, path,
            fields: [
                "Authorization": "DPoP \(token)",
                "DPoP": device.proof(self, method, path, token: token, nonce: nonce),
            ])
    }
}
