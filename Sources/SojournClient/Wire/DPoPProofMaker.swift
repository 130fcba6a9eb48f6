package import Foundation

/// Makes proofs that a request comes from the holder of a key (RFC 9449 §4.2).
package struct DPoPProofMaker: Sendable {
    private let key: any DeviceKey
    private let random: @Sendable (_ count: Int) -> [UInt8]

    /// A maker of proofs with `key`. `random` makes the `jti` of each.
    package init(
        key: any DeviceKey,
        random: @escaping @Sendable (_ count: Int) -> [UInt8] = { SmallCrypto.randomBytes(count: $0) }
    ) {
        self.key = key
        self.random = random
    }

    /// A proof for one request.
    ///
    /// - Parameters:
    ///   - url: the target; the proof leaves out its query and fragment.
    ///   - issuedAt: the server's time in Unix seconds.
    ///   - accessToken: the token in the request, if there is one.
    ///   - nonce: the nonce that the server asked for.
    package func proof(
        method: String, url: URL, issuedAt: Int64, accessToken: String? = nil, nonce: String? = nil
    ) async throws(KeyError) -> String {
        let target = String(url.absoluteString.prefix { $0 != "?" && $0 != "#" })
        var claims = #"{"htm":\#(CompactJWS.quoted(method)),"htu":\#(CompactJWS.quoted(target)),"iat":\#(issuedAt)"#
        claims += #","jti":"\#(Base64URL.encode(random(16)))""#
        if let accessToken {
            claims += #","ath":"\#(Base64URL.encode(SmallCrypto.sha256(Array(accessToken.utf8))))""#
        }
        if let nonce { claims += #","nonce":\#(CompactJWS.quoted(nonce))"# }
        return try await CompactJWS.token(
            header: #"{"alg":"\#(key.publicKey.curve.algorithm)","jwk":\#(key.publicKey.json),"typ":"dpop+jwt"}"#,
            claims: claims + "}", by: key)
    }
}
