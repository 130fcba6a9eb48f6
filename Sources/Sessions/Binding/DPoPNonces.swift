internal import Cryptography

/// Nonces for proofs of possession (RFC 9449 section 8). They are not stored: each holds the second of its issue and a MAC
/// under a key derived from the root key, so that every node accepts the nonces of the others.
struct DPoPNonces: Sendable {
    /// The time for which a nonce is accepted.
    static let lifetime = Duration.seconds(240)
    /// The accepted lead of the issuing node's clock.
    static let lead = Duration.seconds(120)

    /// A nonce that one of the nodes issued.
    struct Nonce: Sendable {
        let issuedAt: Instant

        /// The first instant at which it is refused.
        var end: Instant { issuedAt + DPoPNonces.lifetime }

        /// Returns true if the nonce is accepted at `now`.
        func isGood(at now: Instant) -> Bool { issuedAt <= now + DPoPNonces.lead && now < end }
    }

    private struct Key: Sendable {
        let id: UInt8
        let hmac: HMACSHA256Key
    }

    /// A smaller number counts spans of two minutes instead of seconds, the form of an earlier version.
    private static let firstSecond: Int64 = 1_000_000_000
    private static let spanSeconds: Int64 = 120

    private let first: Key
    private let all: [Key]

    init(rootKeys: RootKeys) {
        let key = { (key: RootKeys.Key) in Key(id: key.id, hmac: HMACSHA256Key(key.derive("sojourn dpop nonce"))) }
        first = key(rootKeys.first)
        all = rootKeys.all.map(key)
    }

    /// Returns the nonce of `now`.
    func current(at now: Instant) -> String {
        let number = now.secondsSinceEpoch
        return Base64URL.encode([first.id] + Self.bytes(number) + Self.tag(first, number))
    }

    /// Parses a nonce of any age; nil if no node has issued it.
    func read(_ text: String) -> Nonce? {
        guard let bytes = Base64URL.decode(text), bytes.count == 25, let key = all.first(where: { $0.id == bytes[0] })
        else { return nil }
        let number = bytes[1...8].reduce(Int64(0)) { $0 << 8 | Int64($1) }
        // The comparison takes constant time, because its duration must not show how much of a guessed tag is right.
        guard constantTimeEqual(Array(bytes[9...]), Self.tag(key, number)) else { return nil }
        return Nonce(issuedAt: Instant(secondsSinceEpoch: number))
    }

    private static func tag(_ key: Key, _ number: Int64) -> [UInt8] {
        Array(key.hmac.authenticate([key.id] + bytes(number)).prefix(16))
    }

    private static func bytes(_ number: Int64) -> [UInt8] {
        stride(from: 56, through: 0, by: -8).map { UInt8(truncatingIfNeeded: number >> Int64($0)) }
    }
}
