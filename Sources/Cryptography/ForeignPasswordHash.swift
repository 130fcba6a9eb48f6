internal import CLinux

/// A password hash of another system. It is verified, so that imported users keep their passwords, and never created.
///
/// - bcrypt: `$2a$`, `$2b$` and `$2y$`, as most web frameworks store it. It uses the first 72 bytes of a password.
/// - PBKDF2 with HMAC-SHA-256 or -SHA-512: the PHC string `$pbkdf2-sha256$i=27500$salt$hash`, passlib's
///   `$pbkdf2-sha256$29000$salt$hash`, and Django's `pbkdf2_sha256$600000$salt$hash`.
public enum ForeignPasswordHash: Sendable, Equatable {
    case bcrypt(BcryptHash)
    case pbkdf2(PBKDF2Hash)

    /// Parses a hash. Returns nil for anything else, and for a hash that would take seconds to verify.
    public init?(_ text: String) {
        guard text.utf8.count <= 1024 else { return nil }
        if let hash = BcryptHash(text) {
            self = .bcrypt(hash)
        } else if let hash = PBKDF2Hash(text) {
            self = .pbkdf2(hash)
        } else {
            return nil
        }
    }

    /// Returns true if `password` matches the hash.
    public func verify(_ password: [UInt8]) throws(PasswordError) -> Bool {
        guard !password.contains(0), password.count <= Scrypt.longestPassword else { return false }
        return switch self {
        case .bcrypt(let hash): try hash.verify(password)
        case .pbkdf2(let hash): hash.verify(password)
        }
    }
}

/// A bcrypt hash (Provos and Mazières 1999), computed by libcrypt.
public struct BcryptHash: Sendable, Equatable {
    /// The largest accepted binary logarithm of the rounds, which takes some seconds, so that a stored string cannot
    /// make the server compute without end.
    static let largestCost = 16

    private static let settingCount = 29
    private static let textCount = 60

    private let text: [UInt8]

    init?(_ text: String) {
        let bytes = Array(text.utf8)
        guard bytes.count == Self.textCount, ["$2a$", "$2b$", "$2y$"].contains(text.prefix(4)), bytes[6] == Self.dollar,
            let cost = Int(String(decoding: bytes[4..<6], as: UTF8.self)), bytes[4...5].allSatisfy(Self.isDigit),
            (4...Self.largestCost).contains(cost), bytes[7...].allSatisfy(Self.isBase64)
        else { return nil }
        self.text = bytes
    }

    func verify(_ password: [UInt8]) throws(PasswordError) -> Bool {
        var output = [CChar](repeating: 0, count: Int(CRYPT_OUTPUT_SIZE))
        let phrase = password.map(CChar.init(bitPattern:)) + [0]
        let setting = text.map(CChar.init(bitPattern:)) + [0]
        let result = unsafe CLinux_crypt(phrase, setting, &output)
        if result < 0 { throw .outOfMemory }
        guard result == 1 else { return false }
        let hash = output.prefix(Self.textCount).map(UInt8.init(bitPattern:))
        // The setting precedes the hash. Some systems leave meaningless bits in its last character, so it is not
        // compared.
        return constantTimeEqual(Array(hash[Self.settingCount...]), Array(text[Self.settingCount...]))
    }

    private static let dollar = UInt8(ascii: "$")

    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

    private static func isBase64(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "."), UInt8(ascii: "/"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "a")...UInt8(ascii: "z"):
            true
        default: isDigit(byte)
        }
    }
}
