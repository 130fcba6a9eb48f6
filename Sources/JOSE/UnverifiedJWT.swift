public import Cryptography
internal import FoundationEssentials

extension JWT {
    /// Takes a token apart. Nothing in the result may be believed before `verify`.
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

/// A token that was taken apart, and that anybody may have written.
public struct UnverifiedJWT: Sendable {
    /// The header, as the token claims it.
    public let header: JWTHeader

    let payload: [UInt8]
    let signature: [UInt8]
    let signingInput: [UInt8]

    /// The `iss` that the token claims: whose keys to look for.
    public var unverifiedIssuer: String? { unverifiedClaims?["iss"]?.string }

    /// All that the token claims, to refuse it without a look at any key; nil when it cannot be read in one way.
    public var unverifiedClaims: [String: JSONValue]? { try? StrictJSON.object(payload, else: .invalidClaims) }

    /// Checks type, key, algorithm and signature, then that the payload is a JSON object that can be read in one way.
    ///
    /// `key` finds a key by the token's `kid`; the algorithm is one of the key it returns.
    public func verify(
        using key: (_ kid: String?) -> VerificationKey?, type: JWT.ExpectedType
    ) throws(JWTError) -> VerifiedJWT {
        guard type.accepts(header.typ) else { throw .unexpectedType }
        guard let key = key(header.kid) else { throw .unknownKey }
        try verifySignature(key)
        _ = try StrictJSON.object(payload, else: .invalidClaims)
        return VerifiedJWT(header: header, payload: payload)
    }

    /// The same with the key that the token brings along (RFC 9449 §4.3): it proves that the sender holds the private
    /// half of `header.jwk`, and nothing else.
    public func verifyWithEmbeddedKey(type: JWT.ExpectedType) throws(JWTError) -> VerifiedJWT {
        guard let key = header.jwk?.verificationKey else { throw .missingEmbeddedKey }
        return try verify(using: { _ in key }, type: type)
    }

    func verifySignature(_ key: VerificationKey) throws(JWTError) {
        guard key.algorithms.contains(header.alg) else { throw .algorithmMismatch }
        guard key.isValidSignature(signature, for: signingInput, by: header.alg) else { throw .invalidSignature }
    }
}

/// A token whose signature, type and form are right. Its times and its audience are the reader's to check.
public struct VerifiedJWT: Sendable {
    /// The header.
    public let header: JWTHeader
    /// The claims as they were signed: a JSON object in UTF-8.
    public let payload: [UInt8]

    /// The claims, or `.invalidClaims` when they are not what `type` needs.
    public func claims<Claims: Decodable>(as type: Claims.Type) throws(JWTError) -> Claims {
        guard let claims = try? JSONDecoder().decode(type, from: Data(payload)) else { throw .invalidClaims }
        return claims
    }
}
