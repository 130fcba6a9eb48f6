public import Cryptography

/// The keys from which all other secrets of the server are derived. Several can be listed during a replacement: the first one
/// mints and encrypts, and all are accepted.
public struct RootKeys: Sendable {
    /// A root key with the byte by which tokens and sealed values name it.
    public struct Key: Sendable {
        /// The id, derived from the key, so that it does not depend on the order of the list.
        public let id: UInt8
        private let secret: SecretKey

        /// Creates a root key.
        public init(_ secret: SecretKey) {
            self.secret = secret
            id = hkdfSHA256(key: secret, info: "sojourn root key id").bytes[0]
        }

        /// Derives the key for the purpose `info` (HKDF-SHA256, RFC 5869).
        public func derive(_ info: String) -> SecretKey { hkdfSHA256(key: secret, info: info) }
    }

    /// The key that mints and encrypts.
    public let first: Key
    /// All keys, `first` included as the first.
    public let all: [Key]

    /// Creates the list of keys; nil if it is empty, or if two keys share an id, of which one must be replaced.
    public init?(_ secrets: [SecretKey]) {
        let keys = secrets.map(Key.init)
        guard let first = keys.first, Set(keys.map(\.id)).count == keys.count else { return nil }
        self.first = first
        all = keys
    }

    /// Encrypts `plaintext` with the first key, bound to `purpose` and `name`.
    func seal(_ plaintext: [UInt8], purpose: String, name: String, random: RandomSource) -> [UInt8] {
        [first.id]
            + AES256GCM(key: first.derive(purpose)).seal(plaintext, associatedData: Array(name.utf8), random: random)
    }

    /// Returns true if the first key sealed the value.
    func isSealedWithFirst(_ sealed: [UInt8]) -> Bool { sealed.first == first.id }

    /// Decrypts a sealed value; nil if it was changed, or sealed with an unlisted key.
    func open(_ sealed: [UInt8], purpose: String, name: String) -> [UInt8]? {
        guard let id = sealed.first, let key = all.first(where: { $0.id == id }) else { return nil }
        return AES256GCM(key: key.derive(purpose)).open(Array(sealed.dropFirst()), associatedData: Array(name.utf8))
    }
}
