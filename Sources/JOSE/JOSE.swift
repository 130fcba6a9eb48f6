// JOSE owns signed tokens and public keys as JSON: compact JWS (RFC 7515) with claims in it (JWT, RFC 7519), JWK and
// JWK sets (RFC 7517, 8037), thumbprints (RFC 7638). It follows RFC 8725: one algorithm per key, chosen by the key and
// never by the token, an explicit type for every kind of token, and no key that a token brings along, unless the
// caller asks for exactly that (RFC 9449).
//
// It must not know what the claims mean, which keys are in use or what time it is: `exp`, `aud` and the like are
// checked by whoever reads the claims.
//
// Reading order: JWTError, JWTHeader, UnverifiedJWT, StrictJSON, JWTSigner, JWK, JWKSet.

/// Signs and reads JSON Web Tokens in the compact form.
public enum JWT {
    /// Longer tokens are refused unread: 16 KiB.
    public static let longestToken = 16 * 1024
}
