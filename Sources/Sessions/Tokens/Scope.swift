/// A set of scope tokens in the order in which they were given (RFC 6749 section 3.3).
public struct Scope: Hashable, Sendable, CustomStringConvertible {
    /// The most bytes of a scope string.
    public static let lengthMax = 1024

    /// The tokens, each once.
    public let tokens: [String]

    /// No scope at all.
    public static let empty = Scope(unchecked: [])

    private init(unchecked tokens: [String]) { self.tokens = tokens }

    /// The scope that a string of tokens parted by single spaces names; nil for characters outside RFC 6749's
    /// `scope-token`, doubled spaces, or more than `lengthMax` bytes.
    public init?(_ text: String) {
        guard text.utf8.count <= Self.lengthMax else { return nil }
        if text.isEmpty {
            self = .empty
            return
        }
        var tokens: [String] = []
        // By bytes: every refresh reads a scope, and characters would be looked for.
        var rest = text.utf8[...]
        while true {
            let token = rest.prefix { $0 != UInt8(ascii: " ") }
            guard !token.isEmpty, token.allSatisfy(Self.isTokenByte) else { return nil }
            let text = String(Substring(token))
            if !tokens.contains(text) { tokens.append(text) }
            if token.endIndex == rest.endIndex { break }
            rest = rest[token.endIndex...].dropFirst()
        }
        self.tokens = tokens
    }

    /// %x21 / %x23-5B / %x5D-7E: visible ASCII without the quote and the backslash.
    private static func isTokenByte(_ byte: UInt8) -> Bool {
        (0x21...0x7E).contains(byte) && byte != 0x22 && byte != 0x5C
    }

    /// Whether every token of `other` is one of ours.
    public func contains(_ other: Scope) -> Bool { other.tokens.allSatisfy(tokens.contains) }

    /// Those of its tokens that `other` has as well, in the same order.
    public func intersection(_ other: Scope) -> Scope {
        other.contains(self) ? self : Scope(unchecked: tokens.filter(other.tokens.contains))
    }

    /// The tokens, parted by single spaces.
    public var description: String { tokens.joined(separator: " ") }
}
