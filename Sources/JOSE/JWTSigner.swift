public import Cryptography
internal import FoundationEssentials

/// Signs tokens of one type with one key; the header is written once.
public final class JWTSigner: Sendable {
    /// The key that signs.
    public let key: SigningKey
    /// The name of the key in the header, and in the key set.
    public let kid: String
    /// The type of the tokens.
    public let typ: String

    /// The first segment and its dot.
    private let header: [UInt8]

    private struct Header: Encodable {
        let alg: String
        let kid: String
        let typ: String
    }

    /// Signs with `key`, named by `kid`, or by its thumbprint when `kid` is nil. `.unencodableClaims` never happens
    /// with a `kid` and a `typ` that are ordinary text.
    public init(key: SigningKey, kid: String? = nil, typ: String = "at+jwt") throws(JWTError) {
        self.key = key
        self.kid = kid ?? JWK(key.publicKey).thumbprint
        self.typ = typ
        let header = Header(alg: key.algorithm.rawValue, kid: self.kid, typ: typ)
        self.header = Base64URL.encodeUTF8(try encodeCompactly(header)) + [UInt8(ascii: ".")]
    }

    /// A token with these claims.
    public func sign(claims: some Encodable) throws(JWTError) -> String {
        sign(encodedClaims: try encodeCompactly(claims))
    }

    /// A token with claims that are a JSON object in UTF-8 already.
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
    /// One token; `JWTSigner` is quicker for many.
    public static func sign(
        claims: some Encodable, typ: String = "at+jwt", key: SigningKey, kid: String
    ) throws(JWTError) -> String {
        try JWTSigner(key: key, kid: kid, typ: typ).sign(claims: claims)
    }
}

/// JSON without white space, members in the order of their names, slashes as they are.
func encodeCompactly(_ value: some Encodable) throws(JWTError) -> [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    guard let text = try? encoder.encode(value) else { throw .unencodableClaims }
    return Array(text)
}
