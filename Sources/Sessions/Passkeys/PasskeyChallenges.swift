internal import Cryptography

/// Challenges of ceremonies, which are stored nowhere before they are used: random bytes and an end, with a MAC under a key
/// from the root key. The client sends the challenge back in its client data, so that any node recognizes it, whichever made
/// it.
struct PasskeyChallenges: Sendable {
    /// What a challenge is for. One for another ceremony or session is not recognized.
    enum Purpose: Hashable, Sendable {
        case login
        /// A login on the server's page, for that request in that browser.
        case page(request: String, browser: String)
        /// A proof of presence in that session.
        case presence(in: Identifier<Session>)
        /// A registration in that session, whose user has just proved their presence.
        case registration(in: Identifier<Session>)
        /// A registration for the account that a proof of that mailbox makes.
        case signUp(Identifier<Verification>)

        fileprivate var bytes: [UInt8] {
            switch self {
            case .login: [0]
            case .registration(let session): [1] + session.bytes
            case .page(let request, let browser): [2] + sha256(Array("\(request) \(browser)".utf8))
            case .presence(let session): [3] + session.bytes
            case .signUp(let verification): [4] + verification.bytes
            }
        }

        /// Whether the server knows the user before the ceremony, so that an authenticator may leave the user handle out.
        var namesUser: Bool {
            switch self {
            case .login, .page: false
            case .presence, .registration, .signUp: true
            }
        }

        /// The time in which a ceremony must be done. A browser offers passkeys for as long as the page can be used.
        var lifetime: Duration {
            switch self {
            case .page: CarriedRequest.lifetime
            case .login, .registration, .signUp, .presence: PasskeyChallenges.lifetime
            }
        }
    }

    /// The time in which a ceremony of an app must be done.
    static let lifetime = Duration.seconds(300)

    private struct Key: Sendable {
        let id: UInt8
        let hmac: HMACSHA256Key
    }

    private static let randomCount = 16
    private static let tagCount = 16

    private let first: Key
    private let all: [Key]

    init(rootKeys: RootKeys) {
        let key = { (key: RootKeys.Key) in Key(id: key.id, hmac: HMACSHA256Key(key.derive("sojourn passkey challenge")))
        }
        first = key(rootKeys.first)
        all = rootKeys.all.map(key)
    }

    /// A new challenge, 41 bytes.
    func make(for purpose: Purpose, at now: Instant, random: RandomSource) -> [UInt8] {
        let end = (now + purpose.lifetime).secondsSinceEpoch
        let body =
            [first.id] + random.bytes(Self.randomCount)
            + stride(from: 56, through: 0, by: -8).map { UInt8(truncatingIfNeeded: end >> Int64($0)) }
        return body + Self.tag(first, body, purpose)
    }

    /// The end of a challenge for `purpose`; nil if no node made it for that, or it is too old.
    func end(of challenge: [UInt8], for purpose: Purpose, at now: Instant) -> Instant? {
        let bodyCount = 1 + Self.randomCount + 8
        guard challenge.count == bodyCount + Self.tagCount, let key = all.first(where: { $0.id == challenge[0] })
        else { return nil }
        let body = Array(challenge[..<bodyCount])
        // Constant time: how much of a guessed tag is right must not show.
        guard constantTimeEqual(Array(challenge[bodyCount...]), Self.tag(key, body, purpose)) else { return nil }
        let end = Instant(secondsSinceEpoch: body[(1 + Self.randomCount)...].reduce(Int64(0)) { $0 << 8 | Int64($1) })
        return now < end ? end : nil
    }

    private static func tag(_ key: Key, _ body: [UInt8], _ purpose: Purpose) -> [UInt8] {
        Array(key.hmac.authenticate(body + purpose.bytes).prefix(tagCount))
    }
}
