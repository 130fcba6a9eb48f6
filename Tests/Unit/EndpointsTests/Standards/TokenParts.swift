import Cryptography
import JOSE
import JSON
import Testing

/// Header and claims of a token, read without the server's own reader.
func tokenParts(_ token: String) throws -> (header: [String: JSONValue], claims: [String: JSONValue]) {
    let segments = token.split(separator: ".", omittingEmptySubsequences: false)
    // RFC 7519 section 7.1: the compact form, of which no part is empty.
    #expect(segments.count == 3 && segments.allSatisfy { !$0.isEmpty })
    let texts = try segments.prefix(2).map { try #require(Base64URL.decode($0)) }
    return (
        try StrictJSON.object(texts[0]), try StrictJSON.object(texts[1])
    )
}
