// JOSE: signed tokens, encrypted messages, and public keys as JSON.
//
// Owns: compact JWS (RFC 7515) with claims (JWT, RFC 7519), JWK and JWK sets (RFC 7517, RFC 8037), thumbprints (RFC
// 7638), DPoP proofs (RFC 9449), client assertions (RFC 7523), and messages to one key (RFC 7516). It follows RFC 8725:
// the key decides the algorithm, never the token; every kind of token has an explicit type; and a key inside a token is
// ignored unless the caller asks for it (RFC 9449).
//
// Must not know: the meaning of claims, the keys in use, the time. The caller checks `exp`, `aud` and the like.
//
// Reading order: JWTError, JWTHeader, UnverifiedJWT, JWTSigner, JWK, JWKSet, DPoPProof, KeyAssertion, JWE.

/// JSON Web Tokens in the compact form (RFC 7515 §7.1).
public enum JWT {
    /// The longest token in bytes, 16 KiB. Longer ones are refused without parsing.
    public static let longestToken = 16 * 1024
}
