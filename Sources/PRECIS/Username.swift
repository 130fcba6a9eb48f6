/// A username as the profile UsernameCaseMapped prepares it (RFC 8265 section 3.3).
public struct Username: Hashable, Sendable {
    /// The name to show: widths are mapped and the text is in form C; its case stands.
    public let text: String
    /// The key by which two names are compared: `text` in lower case. Equal keys are one name.
    public let key: String

    /// Prepares `text`, or throws what the profile refuses in it.
    public init(_ text: String) throws(UsernameProblem) {
        guard !text.isEmpty else { throw .empty }
        if text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) {
            (self.text, key) = (text, text.lowercased())
            return
        }
        let mapped = UnicodeText.composed(text.unicodeScalars.map { UnicodeText.widthMapped($0) })
        try IdentifierClass.check(mapped)
        let key = try Self.stableKey(of: mapped)
        try BidiRule.check(key)
        (self.text, self.key) = (String(mapped), String(key))
    }

    /// The enforced form of `text`. Each rule is applied again until nothing changes, because a case mapping can give a text that
    /// form C composes into another one (RFC 8264 section 7). A text that does not settle is refused.
    private static func stableKey(of text: [Unicode.Scalar]) throws(UsernameProblem) -> [Unicode.Scalar] {
        var key = text
        for _ in 0..<4 {
            let next = UnicodeText.lowercased(key.map { UnicodeText.widthMapped($0) })
            if next == key {
                try IdentifierClass.check(key)
                return key
            }
            key = next
        }
        throw .unstable
    }
}

/// What the profile refuses in a username.
public enum UsernameProblem: Error, Hashable, Sendable {
    /// The name is empty.
    case empty
    case blank(Unicode.Scalar)
    /// A code point that no identifier has: a sign, a control character, a compatibility form of other code points.
    case disallowed(Unicode.Scalar)
    /// A code point that this version of Unicode does not know.
    case unassigned(Unicode.Scalar)
    /// A code point that is allowed only beside certain others (RFC 5892 appendix A).
    case outOfContext(Unicode.Scalar)
    /// Directions are mixed so that the name could be shown in two orders (RFC 5893 section 2).
    case mixedDirections
    /// The rules change the name again and again.
    case unstable
}

extension UsernameProblem: CustomStringConvertible {
    /// The rule that is broken, as a sentence goes on after "username".
    public var description: String {
        switch self {
        case .empty: "must not be empty"
        case .blank: "must have no blanks"
        case .disallowed(let scalar): "must not have \(Self.name(of: scalar))"
        case .unassigned(let scalar): "must not have \(Self.name(of: scalar)), which is not assigned in Unicode"
        case .outOfContext(let scalar): "must not have \(Self.name(of: scalar)) in this place"
        case .mixedDirections: "must not mix directions of writing"
        case .unstable: "has no stable form"
        }
    }

    private static func name(of scalar: Unicode.Scalar) -> String {
        let digits = String(scalar.value, radix: 16, uppercase: true)
        return "U+" + String(repeating: "0", count: max(0, 4 - digits.count)) + digits
    }
}
