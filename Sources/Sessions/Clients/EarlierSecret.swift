internal import Cryptography

/// A secret that a newer one has replaced. It is accepted for the overlap that the admin has chosen, so that the servers of a
/// client can change to the new one in their own time.
public struct EarlierSecret: Hashable, Sendable {
    /// The longest overlap.
    public static let overlapMax = Duration.seconds(30 * 86400)

    /// SHA-256 of the secret.
    public var hash: [UInt8]
    /// The first instant at which it is refused.
    public var endsAt: Instant

    /// Creates an earlier secret from its stored values.
    public init(hash: [UInt8], endsAt: Instant) {
        self.hash = hash
        self.endsAt = endsAt
    }
}

extension Client {
    /// Returns true if `secret` is one of the client's, of which there are two during an overlap. The comparison is in constant
    /// time, because the duration must not disclose how much of a guessed secret's hash is right.
    func accepts(secret: String, at now: Instant) -> Bool {
        let hash = sha256(Array(secret.utf8))
        return secretHashes(at: now).contains { constantTimeEqual($0, hash) }
    }

    /// The hashes of the secrets that are accepted at `now`.
    func secretHashes(at now: Instant) -> [[UInt8]] {
        let earlier = earlierSecret.flatMap { now < $0.endsAt ? $0.hash : nil }
        return [secretHash, earlier].compactMap { $0 }
    }

    /// Replaces the secret by the one with that hash. The old one is accepted for `overlap` after `now`.
    mutating func rotateSecret(to hash: [UInt8], overlap: Duration?, at now: Instant) {
        let old = secretHash
        secretHash = hash
        earlierSecret = nil
        if let old, let overlap, overlap > .zero { earlierSecret = EarlierSecret(hash: old, endsAt: now + overlap) }
    }

    /// Ends the overlap that is under way, or moves its end to `overlap` after `now`. Returns false if there is none.
    mutating func changeOverlap(to overlap: Duration, at now: Instant) -> Bool {
        guard let earlier = earlierSecret, now < earlier.endsAt else { return false }
        earlierSecret = overlap > .zero ? EarlierSecret(hash: earlier.hash, endsAt: now + overlap) : nil
        return true
    }
}
