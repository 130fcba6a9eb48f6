public import Cryptography
internal import FoundationEssentials

/// A JWK set (RFC 7517 §5).
public struct JWKSet: Sendable, Hashable {
    /// The keys, in the order of the text.
    public let keys: [JWK]

    /// These keys.
    public init(_ keys: [JWK]) { self.keys = keys }

    /// The key that verifies what names `kid`. A token without `kid` is verified only by the one key of its set; a key
    /// for encryption, or restricted to another algorithm than its own, by none. Two keys of one name are none: which was
    /// meant, two readers could see differently.
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

    /// A key, or what stands in its place.
    private struct Element: Decodable {
        let key: JWK?
        init(from decoder: any Decoder) throws { key = try? JWK(from: decoder) }
    }

    /// Ignores keys that it cannot use, as RFC 7517 §5 says.
    public init(from decoder: any Decoder) throws {
        keys = try decoder.container(keyedBy: Member.self).decode([Element].self, forKey: .keys).compactMap(\.key)
    }

    /// Reads a text that can be read in one way: no member stands twice, nothing is nested deep, and there are at most 64 keys.
    public init(strictly text: [UInt8]) throws(JWTError) {
        guard case .array(let keys) = try StrictJSON.object(text, else: .malformed)["keys"], keys.count <= 64 else {
            throw .malformed
        }
        guard let set = try? JSONDecoder().decode(JWKSet.self, from: Data(text)) else { throw .malformed }
        self = set
    }

    /// Writes `{"keys": […]}`.
    public func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: Member.self)
        try members.encode(keys, forKey: .keys)
    }
}
