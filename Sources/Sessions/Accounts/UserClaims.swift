public import JSON

/// The claims that an admin sets for a user: a JSON object with members that become claims of every access token, and of ID tokens
/// and userinfo by scope (`ScopeClaims`).
public struct UserClaims: Hashable, Sendable {
    /// The largest size of the object in bytes, because every request with a token carries it.
    public static let byteCountMax = 2048
    /// The longest name of a claim in bytes.
    static let nameLengthMax = 128
    /// The names of claims with another meaning, in tokens of this server or of others (RFC 7519, 7662, 8693, 9068, 9449,
    /// OpenID Connect).
    public static let reservedNames: Set<String> = [
        "iss", "sub", "aud", "exp", "nbf", "iat", "jti", "client_id", "scope", "sid", "device_id", "auth_time", "amr",
        "acr",
        "azp", "nonce", "at_hash", "c_hash", "s_hash", "cnf", "act", "may_act", "refresh_after", "rt", "active",
        "username",
        "token_type", "session_id", "attestation", "anonymous", "events", "sub_id", "authorization_details", "typ",
        "alg", "kid",
    ]

    /// What is said of claims with a number that would be rounded, as a sentence without its subject.
    public static let inexactNumbers = "must not have a number that cannot be kept exactly: write it as a text"

    /// The object in its shortest form, members by their names.
    public let json: String

    /// The members without the braces; empty for an object without members.
    public var members: Substring { json.dropFirst().dropLast() }

    /// Creates claims from their stored form.
    public init(stored: String) { json = stored }

    /// The members by name.
    public var values: [String: JSONValue] { (try? StrictJSON.object(Array(json.utf8))) ?? [:] }

    /// The reason for which an object cannot be the claims of a user.
    public struct Problem: Error, Hashable, Sendable {
        /// The sentence without its subject, which is the name of the member.
        public let detail: String
    }

    /// Creates the claims `members`; nil if there are no members.
    public init?(_ members: [String: JSONValue]) throws(Problem) {
        if members.isEmpty { return nil }
        if let name = members.keys.filter(Self.reservedNames.contains).min() {
            throw Problem(detail: "must not have the member \(name), which tokens have for something else")
        }
        guard members.keys.allSatisfy({ Text.isValid($0, lengthMax: Self.nameLengthMax) }) else {
            throw Problem(
                detail: "must have members with names of 1 to \(Self.nameLengthMax) bytes without control characters")
        }
        guard let text = JSONValue.object(members).compactText, !text.contains("\\u0000"),
            text.utf8.count <= Self.byteCountMax
        else {
            throw Problem(detail: "must have at most \(Self.byteCountMax) bytes, and no character U+0000")
        }
        json = text
    }
}
