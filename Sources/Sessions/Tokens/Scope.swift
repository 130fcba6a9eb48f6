/// A set of scope tokens in their given order (RFC 6749 section 3.3).
public struct Scope: Hashable, Sendable, CustomStringConvertible {
    /// The longest scope string, in bytes.
    public static let lengthMax = 1024

    /// The tokens without repetition.
    public let tokens: [String]

    /// The empty scope.
    public static let empty = Scope(unchecked: [])

    private init(unchecked tokens: [String]) { self.tokens = tokens }

    /// Parses a string of tokens separated by single spaces; nil for characters outside RFC 6749's `scope-token`, doubled
    /// spaces, or more than `lengthMax` bytes.
    public init?(_ text: String) {
        guard text.utf8.count <= Self.lengthMax else { return nil }
        if text.isEmpty {
            self = .empty
            return
        }
        // Every refresh parses a scope, so that bytes are searched instead of characters, and one token is not copied.
        var bytes = text
        let parsed = bytes.withUTF8 { utf8 -> [String]? in
            if utf8.allSatisfy(Self.isTokenByte) { return [text] }
            var tokens: [String] = []
            for token in utf8.split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false) {
                guard !token.isEmpty, token.allSatisfy(Self.isTokenByte) else { return nil }
                let token = String(decoding: token, as: UTF8.self)
                if !tokens.contains(token) { tokens.append(token) }
            }
            return tokens
        }
        guard let parsed else { return nil }
        tokens = parsed
    }

    /// The scope of a client's registration, as people paste it: blanks around it do not count.
    public init?(registered text: String) {
        let words = text.drop(while: \.isWhitespace)
        self.init(words.lastIndex { !$0.isWhitespace }.map { String(words[...$0]) } ?? "")
    }

    /// %x21 / %x23-5B / %x5D-7E: visible ASCII without the quote and the backslash.
    private static func isTokenByte(_ byte: UInt8) -> Bool {
        (0x21...0x7E).contains(byte) && byte != 0x22 && byte != 0x5C
    }

    /// The scope token of an access token that may act on its user's account, beyond its own session: the scope of the apps of the
    /// account's owner, and of no relying party.
    public static let account = "account"

    /// Returns true if this scope has the token.
    public func contains(_ token: String) -> Bool { tokens.contains(token) }

    /// Returns true if this scope has every token of `other`.
    public func contains(_ other: Scope) -> Bool { other.tokens.allSatisfy(tokens.contains) }

    /// The tokens that `other` has as well, in the order of this scope.
    public func intersection(_ other: Scope) -> Scope {
        other.contains(self) ? self : Scope(unchecked: tokens.filter(other.tokens.contains))
    }

    /// The tokens, separated by single spaces.
    public var description: String { tokens.count == 1 ? tokens[0] : tokens.joined(separator: " ") }
}

extension Scope: Codable {
    /// Decodes the tokens from one string.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let scope = Scope(try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "no scope")
        }
        self = scope
    }

    /// Encodes the tokens as one string.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}
