internal import COpenSSL

/// A PBKDF2 hash (RFC 8018 §5.2) with HMAC-SHA-256 or -SHA-512, in the text forms of three families of systems.
public struct PBKDF2Hash: Sendable, Equatable {
    /// The largest accepted product of iterations and blocks, which takes a few seconds, so that a stored string cannot
    /// make the server compute without end.
    static let workMax = 8_000_000

    private enum Digest: String, CaseIterable {
        case sha256, sha512

        var byteCount: Int { self == .sha256 ? 32 : 64 }
    }

    private let digest: Digest
    private let iterations: Int
    private let salt: [UInt8]
    private let hash: [UInt8]

    private init?(_ digest: Digest, iterations: Int?, salt: [UInt8]?, hash: [UInt8]?) {
        guard let iterations, let salt, let hash, iterations > 0, (1...256).contains(salt.count),
            (16...128).contains(hash.count)
        else { return nil }
        let blocks = (hash.count + digest.byteCount - 1) / digest.byteCount
        guard iterations <= Self.workMax / blocks else { return nil }
        self.digest = digest
        self.iterations = iterations
        self.salt = salt
        self.hash = hash
    }

    init?(_ text: String) {
        let parts = text.split(separator: "$", omittingEmptySubsequences: false).map(String.init)
        if parts.count == 5, parts[0].isEmpty, let digest = Self.digest(parts[1], after: "pbkdf2-") {
            self.init(
                digest, iterations: Self.iterations(parts[2]), salt: Self.decode(parts[3]), hash: Self.decode(parts[4]))
        } else if parts.count == 4, let digest = Self.digest(parts[0], after: "pbkdf2_") {
            // Django: the salt is text, and the hash has padding.
            self.init(
                digest, iterations: Self.number(parts[1]), salt: Array(parts[2].utf8), hash: Self.decode(parts[3]))
        } else {
            return nil
        }
    }

    func verify(_ password: [UInt8]) -> Bool {
        let derived = Self.derive(password, digest, salt: salt, iterations: iterations, count: hash.count)
        return constantTimeEqual(derived, hash)
    }

    private static func derive(
        _ password: [UInt8], _ digest: Digest, salt: [UInt8], iterations: Int, count: Int
    ) -> [UInt8] {
        var derived = [UInt8](repeating: 0, count: count)
        let algorithm = unsafe digest == .sha256 ? EVP_sha256() : EVP_sha512()
        unsafe password.withUnsafeBytes { password in
            // libcrypto takes a pointer to characters and their number.
            let start = unsafe password.baseAddress?.assumingMemoryBound(to: CChar.self)
            unsafe mustSucceed(
                PKCS5_PBKDF2_HMAC(
                    start, Int32(password.count), salt, Int32(salt.count), Int32(iterations), algorithm,
                    Int32(count), &derived))
        }
        return derived
    }

    /// The key of a password by HMAC-SHA-256 (RFC 8018 section 5.2): 32 bytes.
    public static func sha256Key(_ password: [UInt8], salt: [UInt8], iterations: Int) -> [UInt8] {
        derive(password, .sha256, salt: salt, iterations: iterations, count: Digest.sha256.byteCount)
    }

    private static func digest(_ name: String, after prefix: String) -> Digest? {
        name.hasPrefix(prefix) ? Digest(rawValue: String(name.dropFirst(prefix.count))) : nil
    }

    /// Parses `i=27500`, `i=27500,l=32` or `29000`.
    private static func iterations(_ text: String) -> Int? {
        guard text.hasPrefix("i=") else { return number(text) }
        let members = text.dropFirst(2).split(separator: ",", omittingEmptySubsequences: false).map(String.init)
        guard members.count == 1 || (members.count == 2 && members[1].hasPrefix("l=")) else { return nil }
        return number(members[0])
    }

    private static func number(_ text: String) -> Int? {
        guard (1...8).contains(text.utf8.count), text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
            return nil
        }
        return Int(text)
    }

    /// Decodes base64 with the standard alphabet, with or without padding. passlib writes `.` for `+`.
    private static func decode(_ text: String) -> [UInt8]? {
        var padding = 0
        var characters: [UInt8] = []
        for character in text.utf8 {
            switch character {
            case UInt8(ascii: "+"), UInt8(ascii: "."): characters.append(UInt8(ascii: "-"))
            case UInt8(ascii: "/"): characters.append(UInt8(ascii: "_"))
            case UInt8(ascii: "="): padding += 1
            case UInt8(ascii: "-"), UInt8(ascii: "_"): return nil  // not in this alphabet
            default:
                if padding > 0 { return nil }
                characters.append(character)
            }
        }
        return padding <= 2 ? Base64URL.decode(utf8: characters) : nil
    }
}
