internal import Cryptography

/// The content of a refresh token: a session, and a serial.
public struct RefreshToken: Hashable, Sendable {
    /// The session that it belongs to.
    public let sessionID: Identifier<Session>
    /// 1, 2, 3 …: the position among the session's refresh tokens.
    public let serial: UInt64

    /// The token number `serial` of a session.
    public init(sessionID: Identifier<Session>, serial: UInt64) {
        self.sessionID = sessionID
        self.serial = serial
    }
}

/// Encodes and decodes refresh tokens: `sjr_` and the base64url of
///
///     version (1) · root-key id (1) · session id (16) · serial (8, big-endian) · tag (16)
///
/// The tag is HMAC-SHA256, cut to 128 bits, over a domain string and all bytes before it, under a key derived from the
/// root key. No token has to be stored, and junk is refused before the database is asked.
public struct RefreshTokenCoder: Sendable {
    /// The prefix of every refresh token, so that scanners of leaked secrets recognise it.
    public static let prefix = "sjr_"
    /// The largest serial: what a database's signed integer holds, with room for a successor.
    static let serialMax = UInt64(Int64.max) - 1

    private static let version: UInt8 = 1
    private static let bodyCount = 2 + Identifier<Session>.byteCount + 8
    private static let tagCount = 16
    private static let domain = Array("sojourn refresh token\0".utf8)

    private let mintingKeyID: UInt8
    private let keys: [UInt8: HMACSHA256Key]

    /// A coder for the given root keys: the first one mints, all of them are accepted.
    public init(rootKeys: RootKeys) {
        mintingKeyID = rootKeys.first.id
        keys = Dictionary(
            rootKeys.all.map { ($0.id, HMACSHA256Key($0.derive("sojourn refresh token"))) },
            uniquingKeysWith: { first, _ in first })
    }

    /// The token as the client gets it: 60 characters.
    public func encode(_ token: RefreshToken) -> String {
        // The first root key is always among the keys.
        guard let key = keys[mintingKeyID] else { preconditionFailure("the minting key has no derived key") }
        var message = Self.domain
        message.reserveCapacity(Self.domain.count + Self.bodyCount + Self.tagCount)
        message.append(Self.version)
        message.append(mintingKeyID)
        for word in [token.sessionID.words.high, token.sessionID.words.low, token.serial] {
            for shift in stride(from: 56, through: 0, by: -8) {
                message.append(UInt8(truncatingIfNeeded: word >> UInt64(shift)))
            }
        }
        message += key.authenticate(message).prefix(Self.tagCount)
        var text = Array(Self.prefix.utf8)
        Base64URL.append(message.span.extracting(Self.domain.count...), to: &text)
        return String(decoding: text, as: UTF8.self)
    }

    /// The token that `text` encodes; nil unless this server has encoded it exactly so.
    public func decode(_ text: String) -> RefreshToken? {
        guard text.hasPrefix(Self.prefix), text.utf8.count < 128,
            let bytes = Base64URL.decode(utf8: Array(text.utf8)[Self.prefix.utf8.count...]),
            bytes.count == Self.bodyCount + Self.tagCount, bytes[0] == Self.version, let key = keys[bytes[1]]
        else { return nil }
        let body = bytes[..<Self.bodyCount]
        // In constant time, because the duration must not disclose how many leading bytes of a guessed tag are right.
        guard constantTimeEqual(Self.tag(of: body, with: key), Array(bytes[Self.bodyCount...])),
            let sessionID = Identifier<Session>(bytes: body[2..<18])
        else { return nil }
        let serial = body[18..<26].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        guard (1...Self.serialMax).contains(serial) else { return nil }
        return RefreshToken(sessionID: sessionID, serial: serial)
    }

    private static func tag(of body: ArraySlice<UInt8>, with key: HMACSHA256Key) -> [UInt8] {
        Array(key.authenticate(domain + body).prefix(tagCount))
    }
}
