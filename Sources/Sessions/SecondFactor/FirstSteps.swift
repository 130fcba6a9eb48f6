internal import Cryptography

/// The first step of a login by password without its second factor: sealed, so that the server stores nothing. It is bound to
/// user, password, client and device, and good for five minutes.
struct FirstSteps: Sendable {
    /// How long the second step may take.
    static let lifetime = Duration.seconds(300)
    private static let prefix = "sjl_"
    private static let purpose = "sojourn login token"

    private let rootKeys: RootKeys
    private let random: RandomSource

    init(rootKeys: RootKeys, random: RandomSource) { (self.rootKeys, self.random) = (rootKeys, random) }

    /// An opened token.
    struct FirstStep: Hashable, Sendable {
        let userID: Identifier<User>
        /// SHA-256 of the hash of the password that was right.
        let passwordDigest: [UInt8]
        let expiresAt: Instant

        /// Whether the user's password is still that one.
        func isOfPassword(of user: User?) -> Bool {
            user.map { constantTimeEqual(FirstSteps.digest(of: $0), passwordDigest) } ?? false
        }
    }

    func seal(_ user: User, in clientID: String, on deviceID: String, at now: Instant) -> String {
        let end = (now + Self.lifetime).secondsSinceEpoch
        let body =
            user.id.bytes + Self.digest(of: user)
            + stride(from: 56, through: 0, by: -8).map { UInt8(truncatingIfNeeded: end >> Int64($0)) }
        let sealed = rootKeys.seal(body, purpose: Self.purpose, name: Self.name(clientID, deviceID), random: random)
        return Self.prefix + Base64URL.encode(sealed)
    }

    /// The first step; nil if the token is not of this server, client and device, or too old.
    func open(_ token: String, in clientID: String, on deviceID: String, at now: Instant) -> FirstStep? {
        let idCount = Identifier<User>.byteCount
        guard token.hasPrefix(Self.prefix), token.utf8.count < 200,
            let sealed = Base64URL.decode(String(token.dropFirst(Self.prefix.count))),
            let body = rootKeys.open(sealed, purpose: Self.purpose, name: Self.name(clientID, deviceID)),
            body.count == idCount + 40, let userID = Identifier<User>(bytes: Array(body[..<idCount]))
        else { return nil }
        let end = body[(idCount + 32)...].reduce(Int64(0)) { $0 << 8 | Int64($1) }
        let step = FirstStep(
            userID: userID, passwordDigest: Array(body[idCount..<idCount + 32]),
            expiresAt: Instant(secondsSinceEpoch: end))
        return now < step.expiresAt ? step : nil
    }

    private static func name(_ clientID: String, _ deviceID: String) -> String { "\(clientID)\0\(deviceID)" }

    fileprivate static func digest(of user: User) -> [UInt8] {
        sha256(user.id.bytes + Array((user.passwordHash ?? "").utf8))
    }
}
