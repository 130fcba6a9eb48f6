public import Cryptography

/// An assertion (RFC 7523 section 3) that a key signed which the reader knows. Its claims say which key that must be, so
/// they can be read before: nothing in them may be believed before `verify`.
public struct KeyAssertion: Sendable {
    /// `iss`: who signed it.
    public let issuer: String
    /// `sub`: for whom.
    public let subject: String
    /// `aud`: to whom.
    public let audience: [String]
    /// `exp`, the Unix second from which it is no longer good.
    public let expiry: Int64
    /// `nbf` or `iat`, whichever is later, if it has one: before that it is not good.
    public let notBefore: Int64?
    /// `jti`: no other assertion of the issuer has it.
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

    /// One or several (RFC 7519 section 4.1.3).
    /// Takes an assertion apart.
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

    /// The header, as the assertion claims it.
    public var header: JWTHeader { token.header }

    /// Checks type, algorithm and signature.
    public func verify(with key: VerificationKey) throws(JWTError) {
        try verify(using: { _ in key }, type: .jwtOrAbsent)
    }

    /// Checks type, algorithm and signature with the key that has the name of the assertion's.
    public func verify(
        using key: (_ kid: String?) -> VerificationKey?, type: JWT.ExpectedType
    ) throws(JWTError) {
        _ = try token.verify(using: key, type: type)
    }
}
