public import Cryptography
internal import JSON

/// A public key as JSON (RFC 7517): EC on P-256, P-384 or P-521 (RFC 7518 §6.2), OKP with Ed25519 (RFC 8037 §2), or RSA
/// (RFC 7518 §6.3). Private keys are neither written nor read: a key with `d` is refused, so that it is not passed on
/// by mistake.
public struct JWK: Sendable, Hashable {
    /// The key itself. It is known to be on its curve.
    public let verificationKey: VerificationKey
    /// The key ID.
    public let kid: String?
    /// `alg`, the only algorithm that the publisher allows for the key.
    public let alg: String?
    /// `use`, the intended use of the key; `sig` if it is for signatures.
    public let use: String?
    /// `key_ops`, the allowed operations (RFC 7517 §4.3); it includes `verify` if the key may verify.
    public let keyOps: [String]?

    /// Creates a JWK with the key only.
    public init(_ key: VerificationKey) {
        verificationKey = key
        kid = nil
        alg = nil
        use = nil
        keyOps = nil
    }

    /// Creates a JWK to publish: for signatures, with its algorithm, and with `kid` or the thumbprint as its ID.
    public init(publishing key: VerificationKey, kid: String? = nil) {
        verificationKey = key
        self.kid = kid ?? JWK(key).thumbprint
        alg = key.algorithm.rawValue
        use = "sig"
        keyOps = nil
    }

    /// True if the publisher allows the key to verify signatures, with an algorithm that fits it.
    public var isForSignatures: Bool {
        (use == nil || use == "sig") && (alg == nil || verificationKey.algorithms.map(\.rawValue) == [alg])
            && (keyOps?.contains("verify") ?? true)
    }

    /// The base64url SHA-256 thumbprint (RFC 7638 §3, RFC 8037 §2).
    public var thumbprint: String {
        // The values contain only characters that JSON does not escape, so this is RFC 7638's canonical form.
        let canonical =
            switch verificationKey.coordinates {
            case .p256(let x, let y), .p384(let x, let y), .p521(let x, let y):
                #"{"crv":"\#(curve)","kty":"EC","x":"\#(Base64URL.encode(x))","y":"\#(Base64URL.encode(y))"}"#
            case .ed25519(let x): #"{"crv":"Ed25519","kty":"OKP","x":"\#(Base64URL.encode(x))"}"#
            case .rsa(let n, let e): #"{"e":"\#(Base64URL.encode(e))","kty":"RSA","n":"\#(Base64URL.encode(n))"}"#
            }
        return Base64URL.encode(sha256(Array(canonical.utf8)))
    }

    /// The `crv` of the key.
    private var curve: String {
        switch verificationKey.coordinates {
        case .p256: "P-256"
        case .p384: "P-384"
        case .p521: "P-521"
        case .ed25519: "Ed25519"
        case .rsa: "none"
        }
    }

    /// Parses the key in the header of a proof. Returns nil if it is not a valid public key on P-256 or Ed25519,
    /// because devices make proofs with the algorithms of `DPoPProof`.
    init?(_ value: JSONValue) {
        guard case .object(let members) = value, members["d"] == nil,
            ["P-256", "Ed25519"].contains(members["crv"]?.string),
            let key = Self.key(
                kty: members["kty"]?.string, crv: members["crv"]?.string, x: members["x"]?.string,
                y: members["y"]?.string)
        else { return nil }
        self.init(key)
    }

    private static func key(kty: String?, crv: String?, x: String?, y: String?) -> VerificationKey? {
        guard let x = x.flatMap({ Base64URL.decode($0) }) else { return nil }
        switch (kty, crv) {
        case ("OKP", "Ed25519"): return VerificationKey(.ed25519(x: x))
        case ("EC", let curve?):
            guard let y = y.flatMap({ Base64URL.decode($0) }) else { return nil }
            switch curve {
            case "P-256": return VerificationKey(.p256(x: x, y: y))
            case "P-384": return VerificationKey(.p384(x: x, y: y))
            case "P-521": return VerificationKey(.p521(x: x, y: y))
            default: return nil
            }
        default: return nil
        }
    }
}

extension JWK: Codable {
    private enum Member: String, CodingKey {
        case kty, crv, x, y, n, e, kid, alg, use, d, k
        case keyOps = "key_ops"
    }

    /// Decodes the members above and ignores others. Throws for a private key, for a key of another type, and for a
    /// point that is not on its curve.
    public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: Member.self)
        guard !members.contains(.d), !members.contains(.k), let key = try Self.key(members) else {
            throw DecodingError.dataCorruptedError(
                forKey: .kty, in: members, debugDescription: "not a public key on a known curve, or of RSA")
        }
        kid = try members.decodeIfPresent(String.self, forKey: .kid)
        alg = try members.decodeIfPresent(String.self, forKey: .alg)
        verificationKey = alg.flatMap(VerificationAlgorithm.init).flatMap(key.restricted) ?? key
        use = try members.decodeIfPresent(String.self, forKey: .use)
        keyOps = try members.decodeIfPresent([String].self, forKey: .keyOps)
    }

    private static func key(_ members: KeyedDecodingContainer<Member>) throws -> VerificationKey? {
        let kty = try members.decode(String.self, forKey: .kty)
        guard kty == "RSA" else {
            return key(
                kty: kty, crv: try members.decode(String.self, forKey: .crv),
                x: try members.decode(String.self, forKey: .x), y: try members.decodeIfPresent(String.self, forKey: .y))
        }
        guard let n = Base64URL.decode(try members.decode(String.self, forKey: .n)),
            let e = Base64URL.decode(try members.decode(String.self, forKey: .e))
        else { return nil }
        return VerificationKey(.rsa(n: n, e: e))
    }

    /// Encodes the public members only.
    public func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: Member.self)
        switch verificationKey.coordinates {
        case .p256(let x, let y), .p384(let x, let y), .p521(let x, let y):
            try members.encode("EC", forKey: .kty)
            try members.encode(curve, forKey: .crv)
            try members.encode(Base64URL.encode(x), forKey: .x)
            try members.encode(Base64URL.encode(y), forKey: .y)
        case .ed25519(let x):
            try members.encode("OKP", forKey: .kty)
            try members.encode(curve, forKey: .crv)
            try members.encode(Base64URL.encode(x), forKey: .x)
        case .rsa(let n, let e):
            try members.encode("RSA", forKey: .kty)
            try members.encode(Base64URL.encode(n), forKey: .n)
            try members.encode(Base64URL.encode(e), forKey: .e)
        }
        try members.encodeIfPresent(kid, forKey: .kid)
        try members.encodeIfPresent(alg, forKey: .alg)
        try members.encodeIfPresent(use, forKey: .use)
        try members.encodeIfPresent(keyOps, forKey: .keyOps)
    }
}
