internal import COpenSSL

/// The digests of HMAC (RFC 2104) that one-time passwords use (RFC 6238 section 1.2).
public enum HMACDigest: String, CaseIterable, Sendable {
    case sha1 = "SHA1"
    case sha256 = "SHA256"
    case sha512 = "SHA512"

    /// The number of bytes of a tag.
    public var count: Int {
        switch self {
        case .sha1: 20
        case .sha256: 32
        case .sha512: 64
        }
    }

    /// The tag of `message` under `key`, which must not be empty. A key that is used often has `HMACSHA256Key`.
    public func authenticate(_ message: [UInt8], key: [UInt8]) -> [UInt8] {
        precondition(!key.isEmpty, "an HMAC key must not be empty")
        return unsafe [UInt8](unsafeUninitializedCapacity: count) { tag, initialized in
            var written = 0
            let end = unsafe EVP_Q_mac(
                nil, "HMAC", nil, rawValue, nil, key, key.count, message, message.count, tag.baseAddress, count,
                &written)
            unsafe mustSucceed(end == nil ? 0 : 1)
            initialized = written
        }
    }
}
