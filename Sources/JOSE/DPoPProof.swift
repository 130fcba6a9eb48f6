public import Cryptography

/// A DPoP proof of possession (RFC 9449 §4.2) with a valid signature by the key that it contains. It shows that its
/// sender holds the private key. The caller checks whether it was made for this request, and recently.
public struct DPoPProof: Sendable {
    /// The RFC 7638 thumbprint of the key.
    public let keyThumbprint: String
    /// `jti`, which is unique among the proofs of the key.
    public let id: String
    /// `htm`, the method of the request.
    public let method: String
    /// `htu`, the target URI; nil if it is not a valid one.
    public let target: DPoPTarget?
    /// `iat`, the Unix second in which the proof was made.
    public let issuedAt: Int64
    /// `nbf`, if present.
    public let notBefore: Int64?
    /// `exp`, if present.
    public let expiry: Int64?
    /// `ath`, the base64url SHA-256 of the access token that the proof belongs to.
    public let accessTokenHash: String?
    /// `nonce`, the nonce that the server issued.
    public let nonce: String?

    /// The algorithms of proofs. Other algorithms, which other tokens may use, are refused.
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

    /// Parses a proof and checks everything that concerns the proof alone: form, type, algorithm, key, signature, and
    /// that all required claims are present.
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

    /// Returns the `ath` of an access token.
    public static func hash(ofAccessToken token: String) -> String { Base64URL.encode(sha256(Array(token.utf8))) }
}
