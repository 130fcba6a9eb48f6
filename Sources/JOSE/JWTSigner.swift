public import Cryptography
internal import FoundationEssentials
internal import JSON

/// Signs tokens of one type with one key. The header is encoded once.
public final class JWTSigner: Sendable {
    /// The signing key.
    public let key: SigningKey
    /// The key ID in the header and in the key set.
    public let kid: String
    /// The `typ` of the tokens.
    public let typ: String

    /// The first segment with its dot.
    private let header: [UInt8]

    private struct Header: Encodable {
        let alg: String
        let kid: String
        let typ: String
    }

    /// Creates a signer for `key` with the ID `kid`, or with the key's thumbprint if `kid` is nil. It never throws
    /// `.unencodableClaims` if `kid` and `typ` are ordinary text.
    public init(key: SigningKey, kid: String? = nil, typ: String = "at+jwt") throws(JWTError) {
        self.key = key
        self.kid = kid ?? JWK(key.publicKey).thumbprint
        self.typ = typ
        let header = Header(alg: key.algorithm.rawValue, kid: self.kid, typ: typ)
        self.header = Base64URL.encodeUTF8(try encodeCompactly(header)) + [UInt8(ascii: ".")]
    }

    /// Returns a token with these claims.
    public func sign(claims: some Encodable) throws(JWTError) -> String {
        sign(encodedClaims: try encodeCompactly(claims))
    }

    /// Returns a token with claims that are encoded as a JSON object in UTF-8 already.
    public func sign(encodedClaims: [UInt8]) -> String {
        var token = header
        token.reserveCapacity(header.count + encodedClaims.count * 4 / 3 + 100)
        Base64URL.append(encodedClaims.span, to: &token)
        let signature = key.sign(token)
        token.append(UInt8(ascii: "."))
        Base64URL.append(signature.span, to: &token)
        return String(decoding: token, as: UTF8.self)
    }
}

extension JWT {
    /// Signs one token. `JWTSigner` is faster for many.
    public static func sign(
        claims: some Encodable, typ: String = "at+jwt", key: SigningKey, kid: String
    ) throws(JWTError) -> String {
        try JWTSigner(key: key, kid: kid, typ: typ).sign(claims: claims)
    }
}

/// Writes `value` as JSON without white space, members in the order of their names.
func encodeCompactly(_ value: some Encodable) throws(JWTError) -> [UInt8] {
    guard let text = JSONText.compact(value) else { throw .unencodableClaims }
    return text
}
