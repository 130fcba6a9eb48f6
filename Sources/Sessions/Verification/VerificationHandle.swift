internal import Cryptography

/// The browser, app or session that asked for a verification. Only the hash of its secret is kept.
public struct VerificationAsker: Hashable, Sendable {
    /// SHA-256 of the kind and the secret.
    let digest: [UInt8]

    private init(_ kind: String, _ secret: [UInt8]) { digest = sha256(Array("\(kind)\0".utf8) + secret) }

    /// A browser with that flow cookie.
    public init(browser secret: String) { self.init("browser", Array(secret.utf8)) }

    /// A session, which changes the address of its user.
    public init(session id: Identifier<Session>) { self.init("session", id.bytes) }

    /// An app with that secret.
    init(app secret: [UInt8]) { self.init("app", secret) }
}

/// A verification and its asker: what every call after the first one names.
public struct VerificationHandle: Hashable, Sendable {
    /// What a token of an app begins with.
    public static let tokenPrefix = "sjt_"
    private static let secretCount = 32

    /// The verification.
    public let id: Identifier<Verification>
    /// The asker.
    public let asker: VerificationAsker

    /// The verification of that asker.
    public init(id: Identifier<Verification>, asker: VerificationAsker) { (self.id, self.asker) = (id, asker) }

    /// The verification that an app's token names; nil if it is no such token. The store knows whether it is genuine.
    public init?(token: String) {
        let idCount = Identifier<Verification>.byteCount
        guard token.hasPrefix(Self.tokenPrefix), token.utf8.count < 128,
            let bytes = Base64URL.decode(token.dropFirst(Self.tokenPrefix.count)),
            bytes.count == idCount + Self.secretCount, let id = Identifier<Verification>(bytes: bytes[..<idCount])
        else { return nil }
        self.init(id: id, asker: VerificationAsker(app: Array(bytes[idCount...])))
    }

    /// The token of an app with that secret of 32 bytes.
    static func token(of id: Identifier<Verification>, secret: [UInt8]) -> String {
        tokenPrefix + Base64URL.encode(id.bytes + secret)
    }

    /// Whether the asker of this handle has asked for the verification.
    func asked(for verification: Verification) -> Bool {
        verification.asker.map { constantTimeEqual($0, asker.digest) } ?? false
    }
}

/// A request for a proof of a mailbox.
public struct VerificationRequest: Sendable {
    /// The act for which the mailbox is proven: every one but a change of the address.
    public var purpose: Verification.Purpose
    /// The address as it was typed.
    public var email: String
    /// The app; nil: a page of the server without one.
    public var clientID: String?
    /// The language of page or app.
    public var language: String
    /// The browser; nil: an app, which gets a token.
    public var asker: VerificationAsker?
    /// The `Idempotency-Key` of an app. The same request with it gets the same verification.
    public var idempotencyKey: String?
    /// The session that the browser shows, ended or not.
    public var knownSession: Identifier<Session>?
    /// The device of the app.
    public var knownDevice: String?
    /// What the mail says of the request: `place`, `browser`, `device`.
    public var facts: [String: String] = [:]

    /// A request for the mailbox `email`.
    public init(_ purpose: Verification.Purpose, email: String, language: String) {
        (self.purpose, self.email, self.language) = (purpose, email, language)
    }
}

/// The answer to a request for a proof, which is the same for every mailbox.
public struct VerificationTicket: Sendable {
    /// The verification and its asker.
    public let handle: VerificationHandle
    /// The token of an app; nil for a browser.
    public let token: String?
    /// The first instant at which the code is invalid.
    public let expiresAt: Instant
    /// The time from which another mail can be sent.
    public let resendAt: Instant
}

/// A proven mailbox, for the act that the proof allows. The transaction of that act reads the row again.
public struct VerificationProof: Sendable {
    /// The verification as it was read.
    public let verification: Verification
    /// The verification and its asker.
    public let handle: VerificationHandle
}

/// What the link of a mail is in a browser.
public enum VerificationLink: Sendable {
    /// The browser has asked for it: one press proves the mailbox.
    case own(VerificationHandle, Verification)
    /// Another browser or app has asked for it: the code has to be typed there.
    case elsewhere(Verification)
    /// There is a newer mail.
    case replaced
    /// The link is used, too old, or unknown.
    case over
}
