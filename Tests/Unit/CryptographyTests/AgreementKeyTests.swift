import Cryptography
import Testing

/// Agreement on a secret, and the derivation of a key from it.
@Suite struct AgreementKeyTests {
    private func number(_ text: String) throws -> [UInt8] { try #require(Base64URL.decode(text)) }

    /// A key of RFC 7518 appendix C, in PKCS#8.
    private func key(x: String, y: String, d: String) throws -> AgreementKey {
        let start = "308187020100301306072a8648ce3d020106082a8648ce3d030107046d306b0201010420"
        let der = try bytes(start) + number(d) + bytes("a14403420004") + number(x) + number(y)
        return try #require(AgreementKey(pkcs8DER: der))
    }

    private func bytes(_ text: String) throws -> [UInt8] { try #require(Hex.decode(text)) }

    private func alice() throws -> AgreementKey {
        try key(
            x: "gI0GAILBdu7T53akrFmMyGcsF3n5dO7MmwNBHKW5SV0", y: "SLW_xSffzlPWrHEVI30DHM_4egVwt3NQqeUD7nMFpps",
            d: "0_NxaRPUMQoAJt50Gz8YiTr8gRTwyEaCumd-MToTmIo")
    }

    private func bob() throws -> AgreementKey {
        try key(
            x: "weNJy2HscCSM6AEDTDg04biOvhFhyyWvOHQfeF_PxMQ", y: "e8lnCO-AlStT-NJVX-crhB7QRYhiix03illJOVAOyck",
            d: "VEmDZpDXXK8p8N0Cndsxs924q6nS1RXFASRl6BfUqdw")
    }

    @Test("the secret and the key are those of RFC 7518 appendix C, on both sides")
    func appendixC() throws {
        let secret: [UInt8] = [
            158, 86, 217, 29, 129, 113, 53, 211, 114, 131, 66, 131, 191, 132, 38, 156, 251, 49, 110, 163, 218, 128, 106,
            72, 246, 218, 167, 121, 140, 254, 144, 196,
        ]
        let info: [UInt8] = [
            0, 0, 0, 7, 65, 49, 50, 56, 71, 67, 77, 0, 0, 0, 5, 65, 108, 105, 99, 101, 0, 0, 0, 3, 66, 111, 98, 0, 0, 0,
            128,
        ]
        let (alice, bob) = (try alice(), try bob())
        #expect(alice.agree(with: bob.publicKey) == secret)
        #expect(bob.agree(with: alice.publicKey) == secret)
        #expect(Base64URL.encode(concatKDF(secret: secret, info: info, count: 16)) == "VqqN6vgjbSBcIijNcacQGg")
    }

    @Test("a longer key is derived in several rounds, of which each has its number")
    func severalRounds() {
        let long = concatKDF(secret: [1, 2, 3], info: [4], count: 70)
        #expect(Array(long.prefix(32)) == sha256([0, 0, 0, 1, 1, 2, 3, 4]))
        #expect(Array(long[32..<64]) == sha256([0, 0, 0, 2, 1, 2, 3, 4]))
        #expect(long.count == 70)
    }

    @Test("a key comes back from its bytes, and a key that only signs is none")
    func pkcs8() throws {
        let key = AgreementKey.generate()
        #expect(try #require(AgreementKey(pkcs8DER: key.pkcs8DER)).publicKey == key.publicKey)
        #expect(AgreementKey(pkcs8DER: SigningKey.generate(.eddsa).pkcs8DER) == nil)
        #expect(AgreementKey(pkcs8DER: key.pkcs8DER + [0]) == nil)
        #expect(AgreementKey(pkcs8DER: []) == nil)
        #expect(key.agree(with: SigningKey.generate(.eddsa).publicKey) == nil)
        #expect("\(key)" == "AgreementKey(redacted)")
    }
}
