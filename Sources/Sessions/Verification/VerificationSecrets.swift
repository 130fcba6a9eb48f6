internal import Cryptography

/// The codes and links of verifications, as message authentication codes of their ids (HMAC-SHA-256, RFC 2104). The database has
/// none of them, so that its copy proves no mailbox.
public struct VerificationSecrets: Sendable {
    /// The digits of a code.
    public static let codeLength = 8
    private static let codeCount: UInt64 = 100_000_000
    private static let macCount = 32

    /// What the holder of a link can do.
    public enum Link: String, CaseIterable, Sendable {
        /// Proves the mailbox.
        case prove = "sjv_"
        /// Ends the verification, because another person asked for it.
        case cancel = "sjx_"
        /// Gives an account back to its former mailbox.
        case undo = "sju_"
        /// Keeps an account that is to be deleted.
        case keep = "sjk_"
    }

    private struct Keys: Sendable {
        let id: UInt8
        let code: HMACSHA256Key
        let link: HMACSHA256Key
        let user: HMACSHA256Key
    }

    private let keys: [Keys]
    private let mailboxKey: HMACSHA256Key
    private let appKey: HMACSHA256Key

    init(rootKeys: RootKeys) {
        keys = rootKeys.all.map { key in
            Keys(
                id: key.id, code: HMACSHA256Key(key.derive("sojourn verification code")),
                link: HMACSHA256Key(key.derive("sojourn verification link")),
                user: HMACSHA256Key(key.derive("sojourn verification user")))
        }
        mailboxKey = HMACSHA256Key(rootKeys.first.derive("sojourn mailbox"))
        appKey = HMACSHA256Key(rootKeys.first.derive("sojourn verification app"))
    }

    /// The id of the key from which the secrets of a new verification are derived.
    public var keyID: UInt8 { keys[0].id }

    /// The keyed hash of an address in lower case (`Text.emailKey`).
    public func mailbox(_ emailKey: String) -> [UInt8] { mailboxKey.authenticate(Array(emailKey.utf8)) }

    /// The secret of an app that has sent the same request, with an `Idempotency-Key` as its last part.
    func appSecret(of parts: [String]) -> [UInt8] { appKey.authenticate(Array(parts.joined(separator: "\0").utf8)) }

    /// The id of the user that a verification makes, so that a retry finds the user; nil if its root key is not listed any more.
    func newUserID(of verification: Verification) -> Identifier<User>? {
        keys.first { $0.id == verification.keyID }.map {
            Identifier(drawn: $0.user.authenticate(verification.id.bytes))
        }
    }

    /// The code of a verification; nil if its root key is not listed any more.
    public func code(of verification: Verification) -> String? {
        guard let key = keys.first(where: { $0.id == verification.keyID }) else { return nil }
        let message = Array(verification.purpose.rawValue.utf8) + verification.id.bytes
        let number = key.code.authenticate(message).prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        let digits = String(number % Self.codeCount)
        return String(repeating: "0", count: Self.codeLength - digits.utf8.count) + digits
    }

    /// Whether `typed` is the code of a verification. Spaces and hyphens are ignored.
    func isCode(_ typed: String, of verification: Verification) -> Bool {
        let digits = typed.utf8.filter { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "-") }
        guard let code = code(of: verification) else { return false }
        return constantTimeEqual(Array(code.utf8), digits)
    }

    /// The token of a link about a verification; nil if its root key is not listed any more.
    public func token(_ link: Link, of verification: Verification) -> String? {
        guard let key = keys.first(where: { $0.id == verification.keyID }) else { return nil }
        return Self.token(link, verification.id.bytes, key.link)
    }

    /// The token of a link about a user's account as it is until `end`.
    public func token(_ link: Link, of userID: Identifier<User>, until end: Instant) -> String {
        Self.token(link, userID.bytes + Self.bytes(of: end), keys[0].link)
    }

    /// The verification that a token names; nil if no listed key made the token.
    func verification(named token: String, by link: Link) -> Identifier<Verification>? {
        guard let subject = subject(of: token, link, count: Identifier<Verification>.byteCount) else { return nil }
        return Identifier(bytes: subject)
    }

    /// The user that a token names, and the end of the state of the account; nil if no listed key made the token.
    func account(named token: String, by link: Link) -> (userID: Identifier<User>, until: Instant)? {
        let count = Identifier<User>.byteCount
        guard let subject = subject(of: token, link, count: count + 8),
            let userID = Identifier<User>(bytes: subject.prefix(count))
        else { return nil }
        let seconds = subject.dropFirst(count).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        return (userID, Instant(secondsSinceEpoch: Int64(bitPattern: seconds)))
    }

    private func subject(of token: String, _ link: Link, count: Int) -> [UInt8]? {
        guard token.hasPrefix(link.rawValue), token.utf8.count < 128,
            let bytes = Base64URL.decode(token.dropFirst(link.rawValue.utf8.count)),
            bytes.count == count + Self.macCount
        else { return nil }
        let subject = Array(bytes.prefix(count))
        let isGenuine = keys.contains { key in
            constantTimeEqual(key.link.authenticate(Array(link.rawValue.utf8) + subject), Array(bytes.dropFirst(count)))
        }
        return isGenuine ? subject : nil
    }

    private static func token(_ link: Link, _ subject: [UInt8], _ key: HMACSHA256Key) -> String {
        link.rawValue + Base64URL.encode(subject + key.authenticate(Array(link.rawValue.utf8) + subject))
    }

    private static func bytes(of instant: Instant) -> [UInt8] {
        let seconds = UInt64(bitPattern: instant.secondsSinceEpoch)
        return stride(from: 56, through: 0, by: -8).map { UInt8(truncatingIfNeeded: seconds >> UInt64($0)) }
    }
}
