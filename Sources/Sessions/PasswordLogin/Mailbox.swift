/// The syntax of a mailbox (RFC 5321 section 4.1.2, RFC 6531 for letters beyond ASCII), without what no mail provider gives out:
/// a quoted local part, an address literal, a domain without a dot.
public enum Mailbox {
    /// The longest local part in bytes (RFC 5321 section 4.5.3.1.1).
    private static let localPartLengthMax = 64
    /// The longest address in bytes, so that a path with its angle brackets has 256 (RFC 5321 section 4.5.3.1.3).
    private static let lengthMax = 254
    /// The longest label of a domain in bytes (RFC 1035 section 2.3.4).
    private static let labelLengthMax = 63

    /// Whether `address` is a dot-atom, an `@` and a domain of two labels or more.
    public static func isValid(_ address: String) -> Bool {
        let parts = address.split(separator: "@", omittingEmptySubsequences: false)
        guard parts.count == 2, address.utf8.count <= lengthMax, parts[0].utf8.count <= localPartLengthMax else {
            return false
        }
        let atoms = parts[0].split(separator: ".", omittingEmptySubsequences: false)
        let labels = parts[1].split(separator: ".", omittingEmptySubsequences: false)
        return atoms.allSatisfy { !$0.isEmpty && $0.unicodeScalars.allSatisfy(isAtomText) }
            && labels.count >= 2 && labels.allSatisfy(isLabel)
    }

    /// A mailbox to which mails are sent.
    public struct Deliverable: Hashable, Sendable {
        /// The address as it was typed, without blanks around it.
        public let text: String
        /// Its key (`Text.emailKey`).
        public let key: String
    }

    /// The mailbox that was typed, if mails are sent to it: ASCII alone, because few relays take other addresses (RFC 6531), and
    /// because letters that look alike, or fold to one another, would name another mailbox.
    public static func deliverable(_ typed: String) -> Deliverable? {
        let text = Text.withoutOuterBlanks(typed)
        guard isValid(text), let key = Text.emailKey(text) else { return nil }
        return Deliverable(text: text, key: key)
    }

    /// `atext` of RFC 5322 section 3.2.3.
    private static func isAtomText(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case "a"..."z", "A"..."Z", "0"..."9": true
        case "!", "#", "$", "%", "&", "'", "*", "+", "-", "/", "=", "?", "^", "_", "`", "{", "|", "}", "~": true
        default: isBeyondASCII(scalar)
        }
    }

    private static func isLabel(_ label: Substring) -> Bool {
        (1...labelLengthMax).contains(label.utf8.count) && label.first != "-" && label.last != "-"
            && label.unicodeScalars.allSatisfy { scalar in
                switch scalar {
                case "a"..."z", "A"..."Z", "0"..."9", "-": true
                default: isBeyondASCII(scalar)
                }
            }
    }

    /// Letters, marks and digits beyond ASCII. Blanks and invisible characters are none.
    private static func isBeyondASCII(_ scalar: Unicode.Scalar) -> Bool {
        guard !scalar.isASCII, !scalar.properties.isDefaultIgnorableCodePoint else { return false }
        switch scalar.properties.generalCategory {
        case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .nonspacingMark,
            .spacingMark, .decimalNumber:
            return true
        default: return false
        }
    }
}
