/// Why a token, or a key set, was refused. The raw value is a stable code for logs and audit events.
public enum JWTError: String, Error, Sendable, CaseIterable {
    /// Longer than `JWT.longestToken`.
    case tooLong = "jwt_too_long"
    /// Not three segments, each in canonical base64url.
    case malformed = "jwt_malformed"
    /// The header is not a JSON object with a string `alg`, or a known member has the wrong type.
    case invalidHeader = "jwt_invalid_header"
    /// The payload is not a JSON object, or its claims are not those that were asked for.
    case invalidClaims = "jwt_invalid_claims"
    /// A JSON object names a member twice: two readers could see two tokens.
    case duplicateMember = "jwt_duplicate_member"
    /// JSON nested deeper than any token of ours.
    case nestedTooDeep = "jwt_nested_too_deep"
    /// JSON with more values than any token of ours.
    case tooManyValues = "jwt_too_many_values"
    /// `crit` or `b64`: extensions that change how the token must be read (RFC 7515 §4.1.11, RFC 7797).
    case criticalExtension = "jwt_critical_extension"
    /// `jwk`, `jku`, `x5u` or `x5c`: the token brings its own key, which proves nothing.
    case embeddedKey = "jwt_embedded_key"
    /// A proof that must bring its public key (RFC 9449 §4.2) brings none, or not a usable one.
    case missingEmbeddedKey = "jwt_missing_embedded_key"
    /// `alg` is not an asymmetric algorithm of this server; `none` and the HMACs are not.
    case unsupportedAlgorithm = "jwt_unsupported_algorithm"
    /// `alg` is not the algorithm of the key.
    case algorithmMismatch = "jwt_algorithm_mismatch"
    /// `typ` is another kind of token (RFC 8725 §3.11).
    case unexpectedType = "jwt_unexpected_type"
    /// No key has this `kid`.
    case unknownKey = "jwt_unknown_key"
    /// The signature is not the key's over this token.
    case invalidSignature = "jwt_invalid_signature"
    /// The claims to sign cannot be written as JSON.
    case unencodableClaims = "jwt_unencodable_claims"
}
