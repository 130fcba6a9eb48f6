import FoundationEssentials
import Testing

@testable import Cryptography

/// The vectors of Wycheproof for ECDSA on P-256 in the form of JOSE, and for Ed25519, every one: edge values of r and s,
/// points at infinity, signatures of other lengths, and malleable ones.
@Suite struct WycheproofSignatureTests {
    struct File: Decodable {
        struct Group: Decodable {
            struct Case: Decodable {
                let tcId: Int
                let valid: Bool
                let msg: String
                let sig: String
            }
            let key: String
            let tests: [Case]
        }
        let groups: [Group]
    }

    @Test(arguments: [("ecdsa_p256_p1363", 262), ("ed25519", 151)])
    func everyVectorIsVerifiedOrRefusedAsItSays(_ name: String, _ count: Int) throws {
        let folder = URL(filePath: #filePath).deletingLastPathComponent().path
        let file = try JSONDecoder().decode(
            File.self, from: Data(contentsOf: URL(filePath: folder + "/Wycheproof/\(name).json")))
        var seen = 0
        for group in file.groups {
            let bytes = try #require(Hex.decode(group.key))
            let key = VerificationKey(
                bytes.count == 65 ? .p256(x: Array(bytes[1..<33]), y: Array(bytes[33...])) : .ed25519(x: bytes))
            for vector in group.tests {
                let message = try #require(Hex.decode(vector.msg))
                let signature = try #require(Hex.decode(vector.sig))
                #expect(
                    (key?.isValidSignature(signature, for: message) ?? false) == vector.valid, "\(name) \(vector.tcId)")
                seen += 1
            }
        }
        #expect(seen == count)
    }
}
