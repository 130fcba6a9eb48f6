public import Cryptography

/// The text of a recovery code: 24 signs with 120 random bits, of an alphabet without look-alikes. The store has its hash alone.
public struct RecoveryCodeText: Hashable, Sendable {
    /// The codes of one set.
    public static let setCount = 8
    /// The signs of a code.
    static let length = 24
    private static let bytesCount = 15
    /// Digits and letters without I, L, O and U, as Crockford's base32 has them.
    private static let alphabet = Array("0123456789ABCDEFGHJKMNPQRSTVWXYZ")

    private static let base32 = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567")

    private let signs: String

    /// A new code.
    init(random: RandomSource) {
        let letters = Base32.encode(random.bytes(Self.bytesCount))
        // The letters of RFC 4648 have look-alikes of digits among them.
        signs = String(letters.compactMap { Self.base32.firstIndex(of: $0).map { Self.alphabet[$0] } })
    }

    /// The code that was typed, with or without hyphens and spaces; nil if it is no code. Look-alike letters are read as the
    /// sign that they look like.
    init?(_ text: String) {
        let folded = text.uppercased().filter { $0 != " " && $0 != "-" }.map { character -> Character in
            switch character {
            case "O": "0"
            case "I", "L": "1"
            case "U": "V"
            default: character
            }
        }
        guard folded.count == Self.length, folded.allSatisfy(Self.alphabet.contains) else { return nil }
        signs = String(folded)
    }

    /// The code in six groups of four.
    public var text: String {
        stride(from: 0, to: Self.length, by: 4)
            .map { start in String(signs.dropFirst(start).prefix(4)) }.joined(separator: "-")
    }

    /// SHA-256 of the code with its user: 120 bits need no slow hash.
    func hash(of userID: Identifier<User>) -> [UInt8] { sha256(userID.bytes + Array(signs.utf8)) }
}

extension RecoveryCodeText: Redacted {}
