internal import JSON

/// Why a token, or a key set, was refused. The raw value is a stable code for logs and audit events.
public enum JWTError: String, Error, Sendable, CaseIterable {
    /// The token is longer than `JWT.longestToken`.
    case tooLong = "jwt_too_long"
    /// The token does not have three segments, each in canonical base64url.
    case malformed = "jwt_malformed"
    /// The header is not a JSON object with a string `alg`, or a known member has the wrong type.
    case invalidHeader = "jwt_invalid_header"
    /// The payload is not a JSON object, or its claims are not the expected ones.
    case invalidClaims = "jwt_invalid_claims"
    /// A JSON object repeats a member, so two readers could see two tokens.
    case duplicateMember = "jwt_duplicate_member"
    /// The JSON is nested deeper than any valid token.
    case nestedTooDeep = "jwt_nested_too_deep"
    /// The JSON has more values than any valid token.
    case tooManyValues = "jwt_too_many_values"
    /// `crit` or `b64`: extensions that change how the token must be read (RFC 7515 §4.1.11, RFC 7797).
    case criticalExtension = "jwt_critical_extension"
    /// The header has `jwk`, `jku`, `x5u` or `x5c`. A key inside the token proves nothing.
    case embeddedKey = "jwt_embedded_key"
    /// A proof has no public key, or an unusable one, although it needs one (RFC 9449 §4.2).
    case missingEmbeddedKey = "jwt_missing_embedded_key"
    /// `alg` is not an asymmetric algorithm of this server; `none` and the HMACs are not.
    case unsupportedAlgorithm = "jwt_unsupported_algorithm"
    /// `alg` is not the algorithm of the key.
    case algorithmMismatch = "jwt_algorithm_mismatch"
    /// `typ` is another kind of token (RFC 8725 §3.11).
    case unexpectedType = "jwt_unexpected_type"
    /// No key has this `kid`.
    case unknownKey = "jwt_unknown_key"
    /// The signature is not valid for this token and key.
    case invalidSignature = "jwt_invalid_signature"
    /// The claims to sign cannot be written as JSON.
    case unencodableClaims = "jwt_unencodable_claims"
}

extension JWTError {
    /// Translates why a text is no strict JSON; `invalid` stands for a text that is no object.
    init(_ problem: StrictJSON.Problem, else invalid: JWTError) {
        self =
            switch problem {
            case .notAnObject: invalid
            case .duplicateMember: .duplicateMember
            case .nestedTooDeep: .nestedTooDeep
            case .tooManyValues: .tooManyValues
            }
    }
}

extension StrictJSON {
    /// Reads the members of a token's object; throws `invalid` for a text that is no object.
    static func object(_ text: [UInt8], else invalid: JWTError) throws(JWTError) -> [String: JSONValue] {
        do throws(Problem) { return try object(text) } catch { throw JWTError(error, else: invalid) }
    }
}
