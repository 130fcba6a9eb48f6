internal import Cryptography

/// A one-time token for a password reset: `sjp_` and the base64url of user id (16 bytes) and secret (32 bytes). The store keeps
/// the hash of the secret. A fast hash suffices, because the secret is random.
struct PasswordResetToken: Sendable {
    static let prefix = "sjp_"
    static let secretCount = 32

    let userID: Identifier<User>
    private let secret: [UInt8]

    /// Creates the token of a user with a new secret of `secretCount` random bytes.
    init(userID: Identifier<User>, secret: [UInt8]) {
        self.userID = userID
        self.secret = secret
    }

    init?(_ text: String) {
        let idCount = Identifier<User>.byteCount
        guard text.hasPrefix(Self.prefix), text.utf8.count < 128,
            let bytes = Base64URL.decode(text.dropFirst(Self.prefix.count)),
            bytes.count == idCount + Self.secretCount, let userID = Identifier<User>(bytes: bytes[..<idCount])
        else { return nil }
        self.userID = userID
        secret = Array(bytes[idCount...])
    }

    var text: String { Self.prefix + Base64URL.encode(userID.bytes + secret) }
    var secretHash: [UInt8] { sha256(secret) }
}

/// A password reset with a checked one-time token.
public struct ProvenReset: Sendable {
    /// The user with the password to reset.
    public let userID: Identifier<User>
    /// The stored reset that the token matched.
    let reset: User.PasswordReset
}
