internal import Cryptography
internal import Locks

/// Seals the seeds of authenticators with AES-256-GCM under the first root key. Each is bound to its user and factor, so that it
/// cannot be opened in another row.
public struct TOTPSeeds: Sendable {
    private static let purpose = "sojourn totp seed"

    private let rootKeys: RootKeys
    private let random: RandomSource
    /// Whether the walk that seals again was made in this process.
    let areResealed = Locked(false)

    init(rootKeys: RootKeys, random: RandomSource) {
        (self.rootKeys, self.random) = (rootKeys, random)
    }

    /// Whether a root key is being replaced.
    var hasOlderKeys: Bool { rootKeys.all.count > 1 }

    /// The seed as it is stored.
    func seal(_ seed: [UInt8], of factor: Identifier<TOTPFactor>, _ userID: Identifier<User>) -> [UInt8] {
        rootKeys.seal(seed, purpose: Self.purpose, name: Self.name(factor, userID), random: random)
    }

    /// The seed; nil if no listed root key opens it.
    func open(_ factor: TOTPFactor) -> [UInt8]? {
        rootKeys.open(factor.sealedSeed, purpose: Self.purpose, name: Self.name(factor.id, factor.userID))
    }

    /// The factor with its seed under the first root key; nil if it is already, or if no listed key opens it.
    func resealed(_ factor: TOTPFactor) -> TOTPFactor? {
        guard !rootKeys.isSealedWithFirst(factor.sealedSeed), let seed = open(factor) else { return nil }
        var changed = factor
        changed.sealedSeed = seal(seed, of: factor.id, factor.userID)
        return changed
    }

    private static func name(_ factor: Identifier<TOTPFactor>, _ userID: Identifier<User>) -> String {
        "\(userID) \(factor)"
    }
}
