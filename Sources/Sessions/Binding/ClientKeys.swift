public import Cryptography
internal import FoundationEssentials
public import JOSE
public import JSON

/// The public keys by which a client authenticates (`jwks` of RFC 7591): a JWK set without unusable keys.
public struct ClientKeys: Hashable, Sendable {
    /// The algorithms with which a client may sign.
    public static let algorithms: [VerificationAlgorithm] = [.es256, .eddsa, .rs256, .ps256]
    /// The largest number of keys. It leaves room for an unhurried rotation.
    public static let countMax = 8

    /// The error in a set, as the end of a sentence that begins with its name.
    public struct Problem: Error, Hashable, Sendable {
        /// The end of the sentence.
        public let detail: String
    }

    /// The set as JSON, with only the members that this server reads.
    public let text: String
    /// The keys.
    public let set: JWKSet

    /// Creates the set from a JSON value.
    public init(json: JSONValue) throws(Problem) {
        guard let text = try? JSONEncoder().encode(json) else { throw Problem(detail: "must be a JWK set") }
        try self.init(text: Array(text))
    }

    /// Creates the set from JSON text. Unlike a set that an identity provider publishes, a registered set may not hold an
    /// unusable key.
    public init(text: [UInt8]) throws(Problem) {
        struct Registered: Decodable { let keys: [JWK] }
        guard let keys = try? JSONDecoder().decode(Registered.self, from: Data(text)).keys,
            keys.allSatisfy({ !Set(Self.algorithms).isDisjoint(with: $0.verificationKey.algorithms) })
        else {
            throw Problem(
                detail: "must be a JWK set of public keys: EC on P-256, OKP with Ed25519, or RSA of 2048 to 8192 bits")
        }
        guard (1...Self.countMax).contains(keys.count) else {
            throw Problem(detail: "must have 1 to \(Self.countMax) keys")
        }
        guard keys.allSatisfy(\.isForSignatures) else { throw Problem(detail: "must have keys for signatures only") }
        let names = keys.compactMap(\.kid)
        guard keys.count == 1 || (names.count == keys.count && Set(names).count == names.count) else {
            throw Problem(detail: "must give each of its keys a different kid")
        }
        set = JWKSet(keys)
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        guard let text = try? encoder.encode(set) else { throw Problem(detail: "must be a JWK set") }
        self.text = String(decoding: text, as: UTF8.self)
    }

    /// Compares the texts, which determine the sets.
    public static func == (left: ClientKeys, right: ClientKeys) -> Bool { left.text == right.text }

    /// Hashes the text, which determines the set.
    public func hash(into hasher: inout Hasher) { hasher.combine(text) }
}
