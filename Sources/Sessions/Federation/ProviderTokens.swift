internal import Cryptography

/// Seals the refresh tokens of providers with AES-256-GCM under the first root key. Each is bound to its session and provider,
/// so that it cannot be opened in another row.
struct ProviderTokens: Sendable {
    private static let purpose = "sojourn provider refresh token"

    private let rootKeys: RootKeys
    private let random: RandomSource

    init(rootKeys: RootKeys, random: RandomSource) {
        self.rootKeys = rootKeys
        self.random = random
    }

    func seal(_ token: String, for sessionID: Identifier<Session>, _ provider: String) -> [UInt8] {
        rootKeys.seal(
            Array(token.utf8), purpose: Self.purpose, name: Self.name(sessionID, provider), random: random)
    }

    /// The token; nil if there is none, or if no listed root key opens it.
    func open(_ check: ProviderCheck) -> String? {
        guard let sealed = check.sealedToken else { return nil }
        return rootKeys.open(sealed, purpose: Self.purpose, name: Self.name(check.sessionID, check.provider))
            .map { String(decoding: $0, as: UTF8.self) }
    }

    /// Returns true if an older root key sealed the token, which is then sealed again, so that the older key can be removed.
    func isOld(_ sealed: [UInt8]) -> Bool { !rootKeys.isSealedWithFirst(sealed) }

    private static func name(_ sessionID: Identifier<Session>, _ provider: String) -> String {
        "\(sessionID) \(provider)"
    }
}
