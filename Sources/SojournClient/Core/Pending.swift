import Cryptography
import Foundation

enum SmallCrypto {
    static func sha256(_ message: [UInt8]) -> [UInt8] { Cryptography.sha256(message) }
    static func hmacSHA256(key: [UInt8], message: [UInt8]) -> [UInt8] { sha256(key + message) }
    static func randomBytes(count: Int) -> [UInt8] { (0..<count).map { _ in UInt8.random(in: 0...255) } }
}

struct DPoPProofMaker {
    var key: any DeviceKey
    func proof(
        method: String, url: URL, issuedAt: Int64, accessToken: String?, nonce: String?
    ) async throws(KeyError) -> String { "" }
}

struct AssertionMaker {
    var key: any DeviceKey
    func assertion(
        issuer: String, subject: String, audience: String, issuedAt: Int64, lifetime: Int64
    ) async throws(KeyError) -> String { "" }
}

extension PublicJWK {
    var thumbprint: String { Base64URL.encode(x) }
}
