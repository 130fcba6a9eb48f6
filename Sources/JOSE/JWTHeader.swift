public import Cryptography
internal import JSON

/// The members of the protected header (RFC 7515 §4.1) that this server uses.
public struct JWTHeader: Sendable, Hashable {
    /// The algorithm that the token claims. It is compared with the key's algorithm and decides nothing.
    public let alg: VerificationAlgorithm
    /// The key ID.
    public let kid: String?
    /// The kind of token, such as `at+jwt`.
    public let typ: String?
    /// The public key in the header of a proof of possession (RFC 9449 §4.2); nil unless the caller asked for it.
    public let jwk: JWK?

    init(_ text: [UInt8], embeddedKey: JWT.EmbeddedKey) throws(JWTError) {
        let members = try StrictJSON.object(text, else: .invalidHeader)
        if members["crit"] != nil || members["b64"] != nil { throw .criticalExtension }
        if members["jku"] != nil || members["x5u"] != nil || members["x5c"] != nil { throw .embeddedKey }
        switch embeddedKey {
        case .refused:
            if members["jwk"] != nil { throw .embeddedKey }
            jwk = nil
        case .required:
            guard let member = members["jwk"], let key = JWK(member) else { throw .missingEmbeddedKey }
            jwk = key
        }
        guard let alg = try Self.string("alg", members) else { throw .invalidHeader }
        guard let algorithm = VerificationAlgorithm(rawValue: alg) else { throw .unsupportedAlgorithm }
        self.alg = algorithm
        kid = try Self.string("kid", members)
        typ = try Self.string("typ", members)
    }

    private static func string(_ name: String, _ members: [String: JSONValue]) throws(JWTError) -> String? {
        guard let member = members[name] else { return nil }
        guard let text = member.string else { throw .invalidHeader }
        return text
    }
}

extension JWT {
    /// How to treat a public key in the header of a token.
    public enum EmbeddedKey: Sendable {
        /// The key is refused, as for every token that is signed with a known key.
        case refused
        /// The key is required, as for a proof of possession. It proves only itself; the caller compares its
        /// thumbprint.
        case required
    }

    /// The expected `typ`.
    public enum ExpectedType: Sendable, Hashable {
        /// Exactly this media type, without `application/`, in any case (RFC 7515 §4.1.9).
        case type(String)
        /// `JWT` or absent, as in ID tokens.
        case jwtOrAbsent

        /// An access token (RFC 9068 §4).
        public static let accessToken = ExpectedType.type("at+jwt")
        /// A client's authentication assertion (draft-ietf-oauth-rfc7523bis section 4).
        public static let clientAuthentication = ExpectedType.type("client-authentication+jwt")
        /// A DPoP proof (RFC 9449 §4.2).
        public static let dpopProof = ExpectedType.type("dpop+jwt")

        /// Returns true if a header may have this `typ`.
        public func accepts(_ typ: String?) -> Bool {
            let typ = typ?.lowercased()
            switch self {
            case .jwtOrAbsent: return typ == nil || typ == "jwt"
            case .type(let expected):
                let expected = expected.lowercased()
                return typ == expected || typ == "application/" + expected
            }
        }
    }
}
