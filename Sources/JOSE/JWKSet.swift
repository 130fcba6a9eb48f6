public import Cryptography
internal import FoundationEssentials
internal import JSON

/// A JWK set (RFC 7517 §5).
public struct JWKSet: Sendable, Hashable {
    /// The keys, in the order of the text.
    public let keys: [JWK]

    /// Creates a set.
    public init(_ keys: [JWK]) { self.keys = keys }

    /// Returns the key for tokens with this `kid`. Without `kid`, the set must have a single usable key. Keys for
    /// encryption, and keys restricted to an algorithm that does not fit, are not usable. If two keys have the same ID,
    /// the result is nil, because two readers could choose different ones.
    public func verificationKey(kid: String?) -> VerificationKey? {
        let usable = keys.filter(\.isForSignatures)
        guard let kid else { return usable.count == 1 ? usable.first?.verificationKey : nil }
        let named = usable.filter { $0.kid == kid }
        return named.count == 1 ? named.first?.verificationKey : nil
    }
}

extension JWKSet: Codable {
    private enum Member: String, CodingKey {
        case keys
    }

    /// A key, or an element that is not a usable key.
    private struct Element: Decodable {
        let key: JWK?
        init(from decoder: any Decoder) throws { key = try? JWK(from: decoder) }
    }

    /// Decodes a set and skips unusable keys, as RFC 7517 §5 says.
    public init(from decoder: any Decoder) throws {
        keys = try decoder.container(keyedBy: Member.self).decode([Element].self, forKey: .keys).compactMap(\.key)
    }

    /// Parses a set strictly: no repeated members, no deep nesting, at most 64 keys.
    public init(strictly text: [UInt8]) throws(JWTError) {
        guard case .array(let keys) = try StrictJSON.object(text, else: .malformed)["keys"], keys.count <= 64 else {
            throw .malformed
        }
        guard let set = try? JSONDecoder().decode(JWKSet.self, from: Data(text)) else { throw .malformed }
        self = set
    }

    /// Encodes the set as `{"keys": […]}`.
    public func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: Member.self)
        try members.encode(keys, forKey: .keys)
    }
}
