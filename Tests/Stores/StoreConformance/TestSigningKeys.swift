public import Cryptography
internal import Locks

/// Signing keys for tests. Making an RSA key takes a tenth of a second, so that the first one of each server is the same.
public enum TestSigningKeys {
    private static let firstRSA = SigningKey.generate(.rs256)

    /// A generator for one server.
    public static func generator() -> @Sendable (SignatureAlgorithm) -> SigningKey {
        let isFirst = Locked(true)
        return { algorithm in
            guard algorithm == .rs256 else { return .generate(algorithm) }
            let first = isFirst.withLock { isFirst in
                defer { isFirst = false }
                return isFirst
            }
            return first ? firstRSA : .generate(algorithm)
        }
    }
}
