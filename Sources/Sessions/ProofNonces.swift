internal import Cryptography

/// Nonces for proofs of possession (RFC 9449 section 8), which are stored nowhere: each is the number of a span of time with
/// a MAC under a key from the root key, so that every node takes what another one gave out.
struct ProofNonces: Sendable {
    /// A nonce is given out for so long, and taken for as long again.
    static let spanSeconds: Int64 = 120

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
    func current(at now: Instant) -> String { Self.text(first, span: Self.span(now)) }

    /// Whether `nonce` was given out a moment ago, by whatever node: clocks may differ by less than a span.
    func accepts(_ nonce: String, at now: Instant) -> Bool {
        guard let bytes = Base64URL.decode(nonce), bytes.count == 25, let key = all.first(where: { $0.id == bytes[0] })
        else { return false }
        let span = bytes[1...8].reduce(Int64(0)) { $0 << 8 | Int64($1) }
        // Constant time: how much of a guessed tag is right must not show.
        return (Self.span(now) - 1...Self.span(now) + 1).contains(span)
            && constantTimeEqual(Array(bytes[9...]), Self.tag(key, span: span))
    }

    private static func span(_ now: Instant) -> Int64 { now.secondsSinceEpoch / spanSeconds }

    private static func text(_ key: Key, span: Int64) -> String {
        Base64URL.encode([key.id] + bytes(span) + tag(key, span: span))
    }

    private static func tag(_ key: Key, span: Int64) -> [UInt8] {
        Array(key.hmac.authenticate([key.id] + bytes(span)).prefix(16))
    }

    private static func bytes(_ span: Int64) -> [UInt8] {
        stride(from: 56, through: 0, by: -8).map { UInt8(truncatingIfNeeded: span >> Int64($0)) }
    }
}
