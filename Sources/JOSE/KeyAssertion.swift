public import Cryptography
internal import JSON

/// A client assertion (RFC 7523 §3), signed with a key that the server knows. Its claims name the key, so they can be
/// read before `verify`, but they must not be trusted before.
public struct KeyAssertion: Sendable {
    /// `iss`, the signer.
    public let issuer: String
    /// `sub`, the subject.
    public let subject: String
    /// `aud`, the audiences: one or several (RFC 7519 §4.1.3).
    public let audience: [String]
    /// `exp`, the Unix second from which the assertion is invalid.
    public let expiry: Int64
    /// The later one of `nbf` and `iat`; the assertion is invalid before that. Nil without both.
    public let notBefore: Int64?
    /// `jti`, which is unique among the assertions of the issuer.
    public let id: String

    private let token: UnverifiedJWT

    private struct Claims: Decodable {
        let iss: String
        let sub: String
        let aud: Audience
        let exp: NumericDate
        let nbf: NumericDate?
        let iat: NumericDate?
        let jti: String
    }

    /// Parses an assertion without verifying it.
    public init(_ text: String) throws(JWTError) {
        token = try JWT.parse(text)
        _ = try StrictJSON.object(token.payload, else: .invalidClaims)
        let claims = try VerifiedJWT(header: token.header, payload: token.payload).claims(as: Claims.self)
        guard !claims.jti.isEmpty else { throw .invalidClaims }
        issuer = claims.iss
        subject = claims.sub
        audience = claims.aud.all
        expiry = claims.exp.seconds
        notBefore = [claims.nbf, claims.iat].compactMap { $0?.seconds }.max()
        id = claims.jti
    }

    /// The unverified header.
    public var header: JWTHeader { token.header }

    /// Verifies type, algorithm and signature.
    public func verify(with key: VerificationKey) throws(JWTError) {
        try verify(using: { _ in key }, type: .jwtOrAbsent)
    }

    /// Verifies type, algorithm and signature with the key that `key` returns for the assertion's key ID.
    public func verify(
        using key: (_ kid: String?) -> VerificationKey?, type: JWT.ExpectedType
    ) throws(JWTError) {
        _ = try token.verify(using: key, type: type)
    }
}
