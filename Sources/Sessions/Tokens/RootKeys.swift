public import Cryptography

/// The keys from which every other secret of the server is derived. Several can be listed while one replaces another:
/// the first one mints and encrypts, all of them are accepted.
public struct RootKeys: Sendable {
    /// One root key, with the byte by which tokens and sealed keys name it.
    public struct Key: Sendable {
        /// Derived from the key itself, so that it does not depend on the order of the list.
        public let id: UInt8
        private let secret: SecretKey

        /// The root key with that secret.
        public init(_ secret: SecretKey) {
            self.secret = secret
            id = hkdfSHA256(key: secret, info: "sojourn root key id").bytes[0]
        }

        /// The key for the purpose that `info` names (HKDF-SHA256, RFC 5869).
        public func derive(_ info: String) -> SecretKey { hkdfSHA256(key: secret, info: info) }
    }

    /// The key that mints.
    public let first: Key
    /// Every key, the minting one first.
    public let all: [Key]

    /// The keys with those secrets; nil if there is none, or two that share an id: one of them must be made anew.
    public init?(_ secrets: [SecretKey]) {
        let keys = secrets.map(Key.init)
        guard let first = keys.first, Set(keys.map(\.id)).count == keys.count else { return nil }
        self.first = first
        all = keys
    }

    /// `plaintext`, encrypted with the first key and bound to `purpose` and `name`.
    func seal(_ plaintext: [UInt8], purpose: String, name: String, random: RandomSource) -> [UInt8] {
        [first.id]
            + AES256GCM(key: first.derive(purpose)).seal(plaintext, associatedData: Array(name.utf8), random: random)
    }

    /// Whether the first key sealed that.
    func isSealedWithFirst(_ sealed: [UInt8]) -> Bool { sealed.first == first.id }

    /// What was sealed; nil if it was changed, or sealed with a key that is not listed.
    func open(_ sealed: [UInt8], purpose: String, name: String) -> [UInt8]? {
        guard let id = sealed.first, let key = all.first(where: { $0.id == id }) else { return nil }
        return AES256GCM(key: key.derive(purpose)).open(Array(sealed.dropFirst()), associatedData: Array(name.utf8))
    }
}
