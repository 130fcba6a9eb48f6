internal import COpenSSL

/// The reason for which a password could not be hashed or checked.
public enum PasswordError: Error, Sendable, Equatable {
    /// The password contains a NUL, because to HMAC `pw` and `pw\0` are the same key.
    case containsNUL
    /// The password is longer than `Scrypt.longestPassword` bytes.
    case tooLong
    /// There is not enough memory for the hash. The password may be right or wrong.
    case outOfMemory
}

/// scrypt (RFC 7914) with one cost, stored as a PHC string: `$scrypt$ln=17,r=8,p=1$salt$hash`.
///
/// A hash takes `128 * N * r` bytes and a considerable part of a second, so it must never run on an event loop. The
/// caller passes passwords as UTF-8 in Unicode's form NFC.
public struct Scrypt: Sendable, Equatable {
    /// The longest password in bytes. All bytes count; longer ones are refused.
    public static let longestPassword = 1024
    /// The memory of one hash at most, in bytes, so that a stored string cannot make the server take more.
    static let memoryMax: UInt64 = 256 << 20
    /// The largest `N * r * p`, four times that of `standard`, so that a stored string cannot make the server compute
    /// without end.
    static let workMax: UInt64 = 1 << 22

    private static let saltCount = 16
    private static let hashCount = 32

    /// The binary logarithm of the cost N.
    public let logN: Int
    /// The block size r.
    public let r: Int
    /// The parallelization p.
    public let p: Int
    /// Called with the cost of every hash that is computed.
    public var observer: (@Sendable (Scrypt) -> Void)?

    /// N = 2^17, r = 8, p = 1: 128 MiB.
    public static let standard = Scrypt(known: 17, r: 8, p: 1)

    /// Creates a cost. Returns nil if it takes more than 256 MiB, or more than four times the work of `standard`.
    public init?(logN: Int, r: Int, p: Int) {
        guard (1...24).contains(logN), (1...1024).contains(r), (1...1024).contains(p) else { return nil }
        let n = UInt64(1) << UInt64(logN)
        let memory = 128 * UInt64(r) * (n + UInt64(p) + 2)
        guard memory <= Self.memoryMax, n * UInt64(r) * UInt64(p) <= Self.workMax else { return nil }
        self.init(known: logN, r: r, p: p)
    }

    private init(known logN: Int, r: Int, p: Int) {
        self.logN = logN
        self.r = r
        self.p = p
    }

    /// Returns the PHC string of a password, with a new salt.
    public func hash(_ password: [UInt8], random: RandomSource = .system) throws(PasswordError) -> String {
        if password.contains(0) { throw .containsNUL }
        if password.count > Self.longestPassword { throw .tooLong }
        let salt = random.bytes(Self.saltCount)
        let hash = try derive(password, salt: salt, count: Self.hashCount)
        return PHCString(cost: self, salt: salt, hash: hash).text
    }

    /// Returns true if `password` matches the PHC string, at the string's own cost. Returns false if the string is no
    /// scrypt hash within the limits, or if `hash` would refuse the password.
    public func verify(_ password: [UInt8], against text: String) throws(PasswordError) -> Bool {
        guard !password.contains(0), password.count <= Self.longestPassword, let stored = PHCString(text) else {
            return false
        }
        var cost = stored.cost
        cost.observer = observer
        let hash = try cost.derive(password, salt: stored.salt, count: stored.hash.count)
        return constantTimeEqual(hash, stored.hash)
    }

    /// Takes as long as `verify` and matches nothing. It is for unknown user names, so that the time does not reveal
    /// them.
    public func verifyAgainstNothing(_ password: [UInt8]) throws(PasswordError) {
        guard !password.contains(0), password.count <= Self.longestPassword else { return }
        _ = try derive(password, salt: [UInt8](repeating: 0, count: Self.saltCount), count: Self.hashCount)
    }

    /// Returns true if the PHC string is cheaper than this cost in any respect, or unreadable.
    public func needsRehash(_ text: String) -> Bool {
        guard let stored = PHCString(text) else { return true }
        let cost = stored.cost
        return cost.logN < logN || cost.r < r || cost.p < p || stored.salt.count < Self.saltCount
            || stored.hash.count < Self.hashCount
    }

    /// Compares the costs; the observer is ignored.
    public static func == (one: Scrypt, other: Scrypt) -> Bool {
        (one.logN, one.r, one.p) == (other.logN, other.r, other.p)
    }

    /// Returns true if the text is a scrypt hash within the limits.
    public static func isHash(_ text: String) -> Bool { PHCString(text) != nil }

    func derive(_ password: [UInt8], salt: [UInt8], count: Int) throws(PasswordError) -> [UInt8] {
        observer?(self)
        var hash = [UInt8](repeating: 0, count: count)
        let result = unsafe password.withUnsafeBytes { password in
            unsafe EVP_PBE_scrypt(
                password.baseAddress?.assumingMemoryBound(to: CChar.self), password.count, salt, salt.count,
                1 << UInt64(logN), UInt64(r), UInt64(p), Self.memoryMax, &hash, count)
        }
        guard result == 1 else { throw refused(.outOfMemory) }
        return hash
    }
}

/// `$scrypt$ln=17,r=8,p=1$salt$hash`: numbers without leading zeros, base64 with the standard alphabet, no padding.
struct PHCString {
    let cost: Scrypt
    let salt: [UInt8]
    let hash: [UInt8]

    init(cost: Scrypt, salt: [UInt8], hash: [UInt8]) {
        self.cost = cost
        self.salt = salt
        self.hash = hash
    }

    init?(_ text: String) {
        guard text.utf8.count <= 512 else { return nil }
        let parts = Array(text.utf8).split(separator: UInt8(ascii: "$"), omittingEmptySubsequences: false)
        guard parts.count == 5, parts[0].isEmpty, parts[1].elementsEqual("scrypt".utf8) else { return nil }
        let costs = parts[2].split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false)
        guard costs.count == 3,
            let logN = Self.number("ln=", costs[0]), let r = Self.number("r=", costs[1]),
            let p = Self.number("p=", costs[2]), let cost = Scrypt(logN: logN, r: r, p: p),
            let salt = Self.decode(parts[3]), (8...64).contains(salt.count),
            let hash = Self.decode(parts[4]), (16...64).contains(hash.count)
        else { return nil }
        self.init(cost: cost, salt: salt, hash: hash)
    }

    var text: String {
        "$scrypt$ln=\(cost.logN),r=\(cost.r),p=\(cost.p)$\(Self.encode(salt))$\(Self.encode(hash))"
    }

    private static func number(_ name: String, _ text: ArraySlice<UInt8>) -> Int? {
        guard text.starts(with: name.utf8) else { return nil }
        let digits = text.dropFirst(name.utf8.count)
        guard (1...4).contains(digits.count), digits.first != UInt8(ascii: "0") else { return nil }
        var number = 0
        for digit in digits {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit) else { return nil }
            number = number * 10 + Int(digit - UInt8(ascii: "0"))
        }
        return number
    }

    private static func encode(_ bytes: [UInt8]) -> String {
        let text = Base64URL.encodeUTF8(bytes).map { character in
            switch character {
            case UInt8(ascii: "-"): UInt8(ascii: "+")
            case UInt8(ascii: "_"): UInt8(ascii: "/")
            default: character
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    private static func decode(_ text: ArraySlice<UInt8>) -> [UInt8]? {
        let text = text.map { character in
            switch character {
            case UInt8(ascii: "+"): UInt8(ascii: "-")
            case UInt8(ascii: "/"): UInt8(ascii: "_")
            case UInt8(ascii: "-"), UInt8(ascii: "_"): UInt8(ascii: "=")  // not in this alphabet
            default: character
            }
        }
        return Base64URL.decode(utf8: text)
    }
}
