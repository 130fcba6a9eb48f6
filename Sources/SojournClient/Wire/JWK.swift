extension PublicJWK {
    /// The members of the key as JSON, sorted by name, without white space. This is the form that RFC 7638 §3.2 hashes, because
    /// no other member is ever written.
    package var json: String {
        let x = Base64URL.encode(x)
        return switch curve {
        case .p256: #"{"crv":"P-256","kty":"EC","x":"\#(x)","y":"\#(Base64URL.encode(y ?? []))"}"#
        case .ed25519: #"{"crv":"Ed25519","kty":"OKP","x":"\#(x)"}"#
        }
    }

    /// The thumbprint of the key in base64url (RFC 7638 §3, RFC 8037 §2).
    package var thumbprint: String { Base64URL.encode(SmallCrypto.sha256(Array(json.utf8))) }
}
