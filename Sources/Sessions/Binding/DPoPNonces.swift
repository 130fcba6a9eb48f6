internal import Cryptography

/// Nonces for proofs of possession (RFC 9449 section 8), which are stored nowhere: each is the second in which it was given
/// out, with a MAC under a key from the root key, so that every node takes what another one gave out.
struct DPoPNonces: Sendable {
    /// The time for which a nonce is accepted.
    static let lifetime = Duration.seconds(240)
    /// The largest lead of the clock of the node that issued the nonce.
    static let lead = Duration.seconds(120)

    /// A nonce that one of the nodes gave out.
    struct Nonce: Sendable {
        let issuedAt: Instant

        /// The time from which the nonce is refused.
        var end: Instant { issuedAt + DPoPNonces.lifetime }

        /// Whether it was given out a moment ago.
        func isGood(at now: Instant) -> Bool { issuedAt <= now + DPoPNonces.lead && now < end }
    }

    private struct Key: Sendable {
        let id: UInt8
        let hmac: HMACSHA256Key
    }

    private let first: Key
    private let all: [Key]

    init(rootKeys: RootKeys) {
        let key = { (key: RootKeys.Key) in Key(id: key.id, hmac: HMACSHA256Key(key.derive("sojourn dpop nonce"))) }
        first = key(rootKeys.first)
        all = rootKeys.all.map(key)
    }

    /// The nonce of `now`.
    func current(at now: Instant) -> String {
        let number = now.secondsSinceEpoch
        return Base64URL.encode([first.id] + Self.bytes(number) + Self.tag(first, number))
    }

    /// The nonce that `text` is, however old; nil when no node has given it out.
    func read(_ text: String) -> Nonce? {
        guard let bytes = Base64URL.decode(text), bytes.count == 25, let key = all.first(where: { $0.id == bytes[0] })
        else { return nil }
        let number = bytes[1...8].reduce(Int64(0)) { $0 << 8 | Int64($1) }
        // Constant time: how much of a guessed tag is right must not show.
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
