internal import Cryptography

/// Seals the refresh tokens of providers: AES-256-GCM under the first root key, each bound to its session and provider, so that
/// one that is moved to another row is worth nothing.
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

    /// The token; nil if there is none, or no root key that is listed opens it.
    func open(_ check: ProviderCheck) -> String? {
        guard let sealed = check.sealedToken else { return nil }
        return rootKeys.open(sealed, purpose: Self.purpose, name: Self.name(check.sessionID, check.provider))
            .map { String(decoding: $0, as: UTF8.self) }
    }

    /// Whether it is to be sealed anew, so that an older root key can be taken off the list.
    func isOld(_ sealed: [UInt8]) -> Bool { !rootKeys.isSealedWithFirst(sealed) }

    private static func name(_ sessionID: Identifier<Session>, _ provider: String) -> String {
        "\(sessionID) \(provider)"
    }
}
