public import Cryptography

/// One-time passwords by time (RFC 6238, RFC 4226). Enrolment, login and proof of presence share `match`, so that none is
/// stricter than another.
public struct TOTP: Hashable, Sendable {
    /// The digest of the HMAC.
    public let digest: HMACDigest
    /// The digits of a code: 6 to 8.
    public let digits: Int
    /// The seconds of a step.
    public let period: Int64

    /// The parameters of the factors that this server makes. Authenticator apps ignore others.
    public static let ownPeriod: Int64 = 30
    /// The parameters of own factors.
    public static let own = TOTP(digest: .sha1, digits: 6, period: ownPeriod)
    /// The bytes of an own seed (RFC 4226 section 4, requirement 6).
    public static let seedCount = 20
    /// How far the clock of a phone may be off before the page can no longer say so.
    static let clockSearch = Duration.seconds(600)

    private init(digest: HMACDigest, digits: Int, period: Int64) {
        (self.digest, self.digits, self.period) = (digest, digits, period)
    }

    /// The parameters of a factor; nil if they are not supported.
    public init?(algorithm: String, digits: Int, period: Int64) {
        guard let digest = HMACDigest(rawValue: algorithm), (6...8).contains(digits), (10...120).contains(period) else {
            return nil
        }
        self.init(digest: digest, digits: digits, period: period)
    }

    /// What a code is.
    public enum Match: Hashable, Sendable {
        /// The code of that step, which was not used yet.
        case step(Int64)
        /// The code of a step that was used, or of one before it.
        case spent
        /// No code of this moment.
        ///
        /// - Parameter clockDiffers: whether it is the code of a step within ten minutes.
        case wrong(clockDiffers: Bool)
    }

    /// The step of that time.
    public func step(at time: Instant) -> Int64 { time.secondsSinceEpoch / period }

    /// The code of a step (RFC 4226 section 5.3).
    public func code(seed: [UInt8], step: Int64) -> String {
        let counter = stride(from: 56, through: 0, by: -8).map { UInt8(truncatingIfNeeded: step >> Int64($0)) }
        let tag = digest.authenticate(counter, key: seed)
        let offset = Int(tag[tag.count - 1] & 0x0F)
        let truncated = tag[offset..<offset + 4].reduce(UInt32(0)) { $0 << 8 | UInt32($1) } & 0x7FFF_FFFF
        var (rest, text) = (truncated, "")
        for _ in 0..<digits {
            text = String(rest % 10) + text
            rest /= 10
        }
        return text
    }

    /// What `code` is at that time: steps −1, 0 and +1 are accepted (RFC 6238 section 5.2). Of several equal codes the newest
    /// step counts, or the code of a fresh step would be refused as spent.
    ///
    /// - Parameter last: the step that was used last.
    public func match(_ code: String, seed: [UInt8], at now: Instant, after last: Int64) -> Match {
        let (typed, current) = (Array(code.utf8), step(at: now))
        guard typed.count == digits else { return .wrong(clockDiffers: false) }
        func isCode(_ step: Int64) -> Bool {
            step >= 0 && constantTimeEqual(Array(self.code(seed: seed, step: step).utf8), typed)
        }
        let near = (current - 1...current + 1).reversed()
        let matching = near.filter(isCode)
        if let newest = matching.first { return newest > last ? .step(newest) : .spent }
        let reach = Self.clockSearch.components.seconds / period
        let far = (current - reach...current + reach).contains { !near.contains($0) && isCode($0) }
        return .wrong(clockDiffers: far)
    }

    /// The address by which an authenticator app takes the seed over. It names no parameter that apps ignore.
    public static func uri(seed: [UInt8], issuer: String, account: String) -> String {
        let (issuer, account) = (escaped(issuer), escaped(account))
        return "otpauth://totp/\(issuer):\(account)?secret=\(Base32.encode(seed))&issuer=\(issuer)"
    }

    private static func escaped(_ text: String) -> String {
        let plain = Set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~".utf8)
        return text.utf8.map { byte in
            plain.contains(byte) ? String(UnicodeScalar(byte)) : "%" + Hex.encode([byte]).uppercased()
        }.joined()
    }
}
