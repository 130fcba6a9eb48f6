internal import FoundationEssentials
internal import HTTP

/// The credentials of an `Authorization` field, in one of the three schemes of this server.
public enum Authorization: Hashable, Sendable {
    /// Basic credentials (RFC 7617).
    case basic(BasicCredentials)
    /// A bearer token (RFC 6750 §2.1).
    case bearer(String)
    /// A token that is bound to a key (RFC 9449 §7.1). The proof is in another field.
    case dpop(String)

    /// The reason for which a field is refused.
    public enum Problem: Error, Hashable, Sendable {
        /// The scheme is none of `Basic`, `Bearer` and `DPoP`.
        case unknownScheme
        /// The scheme is known and the credentials are malformed.
        case malformed
    }

    /// Parses the value of an `Authorization` field. The scheme is case-insensitive (RFC 9110 §11.1).
    public init(_ value: String) throws(Problem) {
        let utf8 = value.utf8
        guard let blank = utf8.firstIndex(of: UInt8(ascii: " ")) else { throw .unknownScheme }
        let scheme = utf8[..<blank]
        let credentials = utf8[blank...].drop { $0 == UInt8(ascii: " ") }
        if Self.equal(scheme, "bearer") {
            guard Self.isToken68(credentials) else { throw .malformed }
            self = .bearer(String(Substring(credentials)))
        } else if Self.equal(scheme, "dpop") {
            guard Self.isToken68(credentials) else { throw .malformed }
            self = .dpop(String(Substring(credentials)))
        } else if Self.equal(scheme, "basic") {
            guard let basic = BasicCredentials(token68: Array(credentials)) else { throw .malformed }
            self = .basic(basic)
        } else {
            throw .unknownScheme
        }
    }

    private static func equal(_ scheme: Substring.UTF8View, _ lowercase: String) -> Bool {
        // Setting the lower-case bit maps no character other than a letter to a letter of the names.
        scheme.count == lowercase.utf8.count && zip(scheme, lowercase.utf8).allSatisfy { $0 | 0x20 == $1 }
    }

    /// Returns true for `b64token = 1*( ALPHA / DIGIT / "-" / "." / "_" / "~" / "+" / "/" ) *"="` (RFC 6750 §2.1).
    private static func isToken68(_ bytes: Substring.UTF8View) -> Bool {
        var isPadding = false
        for byte in bytes {
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F, 0x7E, 0x2B, 0x2F:
                if isPadding { return false }
            case UInt8(ascii: "="): isPadding = true
            default: return false
            }
        }
        return bytes.first.map { $0 != UInt8(ascii: "=") } ?? false
    }
}

/// A user ID and a password (RFC 7617 §2).
public struct BasicCredentials: Hashable, Sendable {
    /// The text before the first colon.
    public let userID: String
    /// The text after the first colon.
    public let password: String

    /// Creates credentials.
    public init(userID: String, password: String) {
        self.userID = userID
        self.password = password
    }

    /// Decodes credentials from base64 with padding. Returns nil unless they are UTF-8 without control characters, and
    /// have a colon.
    init?(token68: [UInt8]) {
        // Data ignores superfluous padding.
        guard token68.count % 4 == 0, let decoded = Data(base64Encoded: Data(token68)), !decoded.isEmpty,
            let text = String(validating: decoded, as: UTF8.self),
            !text.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }),
            let colon = text.utf8.firstIndex(of: UInt8(ascii: ":"))
        else { return nil }
        userID = String(text[..<colon])
        password = String(text[text.utf8.index(after: colon)...])
    }

    /// The credentials of an OAuth client, which are form-encoded before they become those of RFC 7617 (RFC 6749
    /// §2.3.1); nil if they are not.
    public var formDecoded: BasicCredentials? {
        guard let userID = Self.formDecoded(userID), let password = Self.formDecoded(password) else { return nil }
        return BasicCredentials(userID: userID, password: password)
    }

    private static func formDecoded(_ text: String) -> String? {
        // The text is decoded as the value of a form with one pair, so a raw `&` in it is an error.
        guard let pairs = try? FormDecoder.decode([UInt8(ascii: "=")] + Array(text.utf8)), pairs.count == 1 else {
            return nil
        }
        return pairs.first?.value
    }
}
