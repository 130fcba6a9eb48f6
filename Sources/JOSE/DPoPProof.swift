public import Cryptography

/// A proof of possession (RFC 9449 section 4.2) that was signed by the key which it brings along. It shows that its sender
/// holds the private half of that key; whether it was made for this request and just now, is the reader's to check.
public struct DPoPProof: Sendable {
    /// The RFC 7638 thumbprint of the key.
    public let keyThumbprint: String
    /// `jti`: no other proof of the key has it.
    public let id: String
    /// `htm`: the method of the request.
    public let method: String
    /// `htu`: the target URI; nil when it cannot be one.
    public let target: DPoPTarget?
    /// `iat`, the Unix second in which it was made.
    public let issuedAt: Int64
    /// `nbf`, if it has one.
    public let notBefore: Int64?
    /// `exp`, if it has one.
    public let expiry: Int64?
    /// `ath`: the base64url SHA-256 of the access token that it goes with.
    public let accessTokenHash: String?
    /// `nonce`: what the server gave out for it.
    public let nonce: String?

    /// What may sign a proof. Keys of other kinds, which other tokens may be signed with, are not taken.
    public static let algorithms: [VerificationAlgorithm] = [.es256, .eddsa]

    private struct Claims: Decodable {
        let jti: String
        let htm: String
        let htu: String
        let iat: NumericDate
        let nbf: NumericDate?
        let exp: NumericDate?
        let ath: String?
        let nonce: String?
    }

    /// Reads a proof and checks all that concerns it alone: form, type, algorithm, key, signature, and that no claim is missing.
    public init(_ text: String) throws(JWTError) {
        let unverified = try JWT.parse(text, embeddedKey: .required)
        guard Self.algorithms.contains(unverified.header.alg) else { throw .unsupportedAlgorithm }
        let verified = try unverified.verifyWithEmbeddedKey(type: .dpopProof)
        let claims = try verified.claims(as: Claims.self)
        guard let key = verified.header.jwk, !claims.jti.isEmpty else { throw .invalidClaims }
        keyThumbprint = key.thumbprint
        id = claims.jti
        method = claims.htm
        target = DPoPTarget(claims.htu)
        issuedAt = claims.iat.seconds
        notBefore = claims.nbf?.seconds
        expiry = claims.exp?.seconds
        accessTokenHash = claims.ath
        nonce = claims.nonce
    }

    /// The `ath` of an access token.
    public static func hash(ofAccessToken token: String) -> String { Base64URL.encode(sha256(Array(token.utf8))) }
}
