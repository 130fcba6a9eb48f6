public import JSON

/// What an admin has said of a user, for those who read access tokens: a JSON object whose members become claims.
public struct UserClaims: Hashable, Sendable {
    /// The most bytes of the object: it is in every request with a token.
    public static let byteCountMax = 2048
    /// The names that mean something else in a token of ours, or would in a token of others (RFC 7519, 7662, 8693, 9068, 9449,
    /// OpenID Connect).
    public static let reservedNames: Set<String> = [
        "iss", "sub", "aud", "exp", "nbf", "iat", "jti", "client_id", "scope", "sid", "device_id", "auth_time", "amr",
        "acr",
        "azp", "nonce", "at_hash", "c_hash", "s_hash", "cnf", "act", "may_act", "refresh_after", "rt", "active",
        "username",
        "token_type", "session_id", "attestation", "events", "sub_id", "authorization_details", "typ", "alg", "kid",
    ]

    /// The object in its shortest form, members by their names.
    public let json: String

    /// The members, each with what stands before and after it in a list: nothing for an object without any.
    public var members: Substring { json.dropFirst().dropLast() }

    /// What the store has kept.
    public init(stored: String) { json = stored }

    /// The members, read again.
    public var values: [String: JSONValue] { (try? StrictJSON.object(Array(json.utf8))) ?? [:] }

    /// Why an object is none.
    public struct Problem: Error, Hashable, Sendable {
        /// The end of a sentence that begins with the member's name.
        public let detail: String
    }

    /// The claims that `members` are; nil when there are none.
    public init?(_ members: [String: JSONValue]) throws(Problem) {
        if members.isEmpty { return nil }
        if let name = members.keys.filter(Self.reservedNames.contains).min() {
            throw Problem(detail: "must not have the member \(name), which tokens have for something else")
        }
        guard members.keys.allSatisfy({ Text.isValid($0, lengthMax: 128) }) else {
            throw Problem(detail: "must have members with names of 1 to 128 bytes without control characters")
        }
        guard let text = JSONValue.object(members).compactText, !text.contains("\\u0000"),
            text.utf8.count <= Self.byteCountMax
        else {
            throw Problem(detail: "must have at most \(Self.byteCountMax) bytes, and no character U+0000")
        }
        json = text
    }
}
