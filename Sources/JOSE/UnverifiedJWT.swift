public import Cryptography
internal import FoundationEssentials
public import JSON

extension JWT {
    /// Parses a token. Nothing in the result may be trusted before `verify`.
    public static func parse(
        _ token: String, embeddedKey: EmbeddedKey = .refused
    ) throws(JWTError) -> UnverifiedJWT {
        guard token.utf8.count <= longestToken else { throw .tooLong }
        let text = Array(token.utf8)
        let segments = text.split(separator: UInt8(ascii: "."), maxSplits: 3, omittingEmptySubsequences: false)
        guard segments.count == 3, !segments[0].isEmpty,
            let header = Base64URL.decode(utf8: segments[0]),
            let payload = Base64URL.decode(utf8: segments[1]),
            let signature = Base64URL.decode(utf8: segments[2])
        else { throw .malformed }
        return UnverifiedJWT(
            header: try JWTHeader(header, embeddedKey: embeddedKey),
            payload: payload, signature: signature, signingInput: Array(text[..<segments[1].endIndex]))
    }
}

/// A parsed token without a verified signature.
public struct UnverifiedJWT: Sendable {
    /// The unverified header.
    public let header: JWTHeader

    let payload: [UInt8]
    let signature: [UInt8]
    let signingInput: [UInt8]

    /// All unverified claims, so that a token can be refused before a key is looked up; nil if they are ambiguous.
    public var unverifiedClaims: [String: JSONValue]? { try? StrictJSON.object(payload, else: .invalidClaims) }

    /// Verifies type, key, algorithm and signature, then that the payload is an unambiguous JSON object.
    ///
    /// `key` returns the key for the token's `kid`. The algorithm must be one of that key's.
    public func verify(
        using key: (_ kid: String?) -> VerificationKey?, type: JWT.ExpectedType
    ) throws(JWTError) -> VerifiedJWT {
        guard type.accepts(header.typ) else { throw .unexpectedType }
        guard let key = key(header.kid) else { throw .unknownKey }
        try verifySignature(key)
        _ = try StrictJSON.object(payload, else: .invalidClaims)
        return VerifiedJWT(header: header, payload: payload)
    }

    /// Verifies the token with the key in its own header (RFC 9449 §4.3). It proves that the sender holds the private
    /// key of `header.jwk`, and nothing else.
    public func verifyWithEmbeddedKey(type: JWT.ExpectedType) throws(JWTError) -> VerifiedJWT {
        guard let key = header.jwk?.verificationKey else { throw .missingEmbeddedKey }
        return try verify(using: { _ in key }, type: type)
    }

    func verifySignature(_ key: VerificationKey) throws(JWTError) {
        guard key.algorithms.contains(header.alg) else { throw .algorithmMismatch }
        guard key.isValidSignature(signature, for: signingInput, by: header.alg) else { throw .invalidSignature }
    }
}

/// A token with a valid signature, type and form. The caller checks its times and its audience.
public struct VerifiedJWT: Sendable {
    /// The header.
    public let header: JWTHeader
    /// The claims as they were signed: a JSON object in UTF-8.
    public let payload: [UInt8]

    /// Decodes the claims; throws `.invalidClaims` if they do not fit `type`.
    public func claims<Claims: Decodable>(as type: Claims.Type) throws(JWTError) -> Claims {
        guard let claims = try? JSONDecoder().decode(type, from: Data(payload)) else { throw .invalidClaims }
        return claims
    }
}
