import Testing

@testable import Cryptography

@Suite struct SignatureTests {
    /// The order n of P-256.
    private let order = "ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551"
    /// RFC 6979 A.2.5: the key, and its signature of "sample" with SHA-256.
    private let x = "60fed4ba255a9d31c961eb74c6356d68c049b8923b61fa6ce669622e60f29fb6"
    private let y = "7903fe1008b8bc99a41ae9e95628bc64f2f1b20c2d7e9f5177a3c294d4462299"
    private let r = "efd48b2aacb6a8fd1140dd9cd45e81d69d2c877b56aaf991c34d0ea84eaf3716"
    private let s = "f7cb1c942d657c41d436c7a1b6e29f65f3e900dbb9aff4064dc4ab2f843acda8"
    private let sample = Array("sample".utf8)

    private func p256(_ x: String, _ y: String) throws -> VerificationKey? {
        VerificationKey(.p256(x: try bytes(x), y: try bytes(y)))
    }

    @Test func verifiesES256OfRFC6979() throws {
        let key = try #require(try p256(x, y))
        #expect(key.algorithm == .es256)
        #expect(key.isValidSignature(try bytes(r + s), for: sample))
        #expect(!key.isValidSignature(try bytes(r + s), for: Array("Sample".utf8)))
        #expect(!key.isValidSignature(try bytes(s + r), for: sample))
    }

    @Test func refusesNumbersOutOfRange() throws {
        let key = try #require(try p256(x, y))
        let zero = String(repeating: "00", count: 32)
        let largest = String(repeating: "ff", count: 32)
        for (r, s) in [
            (zero, s), (r, zero), (zero, zero), (order, s), (r, order), (order, order), (largest, s), (r, largest),
            (largest, largest),
        ] {
            #expect(!key.isValidSignature(try bytes(r + s), for: sample))
        }
        #expect(key.isValidSignature(try bytes(r + s), for: sample), "a refused one leaves nothing behind")
    }

    @Test(arguments: SignatureAlgorithm.allCases) func refusesEveryOtherLength(algorithm: SignatureAlgorithm) throws {
        let key = SigningKey.generate(algorithm)
        let signature = key.sign(sample)
        #expect(signature.count == 64)
        for count in 0..<64 {
            #expect(!key.publicKey.isValidSignature(Array(signature.prefix(count)), for: sample))
        }
        #expect(!key.publicKey.isValidSignature(signature + [0], for: sample))
        #expect(!key.publicKey.isValidSignature([0] + signature, for: sample))
    }

    @Test func signsEd25519AsRFC8032() throws {
        // §7.1, tests 1 to 3, each private key in PKCS#8
        let vectors = [
            (
                "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
                "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a", "",
                "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b"
            ),
            (
                "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
                "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c", "72",
                "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00"
            ),
            (
                "c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
                "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025", "af82",
                "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a"
            ),
        ]
        for (secret, publicKey, message, signature) in vectors {
            let key = try #require(SigningKey(pkcs8DER: try bytes("302e020100300506032b657004220420" + secret)))
            #expect(key.algorithm == .eddsa)
            #expect(key.publicKey.coordinates == .ed25519(x: try bytes(publicKey)))
            #expect(key.sign(try bytes(message)) == (try bytes(signature)))
            let verifier = try #require(VerificationKey(.ed25519(x: try bytes(publicKey))))
            #expect(verifier.isValidSignature(try bytes(signature), for: try bytes(message)))
            // S + L in place of S: the same signature in another dress, which RFC 8032 §5.1.7 refuses
            let other = addOrder(try bytes(signature))
            #expect(!verifier.isValidSignature(other, for: try bytes(message)))
        }
    }

    /// Adds L, the order of Ed25519's base point, to the second half, both little-endian.
    private func addOrder(_ signature: [UInt8]) -> [UInt8] {
        let order: [UInt8] =
            [
                0xed, 0xd3, 0xf5, 0x5c, 0x1a, 0x63, 0x12, 0x58, 0xd6, 0x9c, 0xf7, 0xa2, 0xde, 0xf9, 0xde, 0x14,
            ] + Array(repeating: 0, count: 15) + [0x10]
        var sum = signature
        var carry = 0
        for index in 0..<32 {
            let digit = Int(signature[32 + index]) + Int(order[index]) + carry
            sum[32 + index] = UInt8(digit & 255)
            carry = digit >> 8
        }
        return sum
    }

    @Test(arguments: SignatureAlgorithm.allCases) func refusesEveryFlippedByte(algorithm: SignatureAlgorithm) {
        let key = SigningKey.generate(algorithm)
        let signature = key.sign(sample)
        #expect(key.publicKey.isValidSignature(signature, for: sample))
        for index in signature.indices {
            var other = signature
            other[index] ^= 1
            #expect(!key.publicKey.isValidSignature(other, for: sample))
        }
        #expect(!SigningKey.generate(algorithm).publicKey.isValidSignature(signature, for: sample))
    }

    /// One r or s in 256 is shorter than the others, one in two has a zero before it.
    @Test func everyES256SignatureHas64BytesThatAreGood() {
        let key = SigningKey.generate(.es256)
        var seen = (short: 0, high: 0)
        for number in 0..<1500 {
            let message = Array("message \(number)".utf8)
            let signature = key.sign(message)
            #expect(signature.count == 64 && key.publicKey.isValidSignature(signature, for: message))
            for first in [signature[0], signature[32]] {
                if first == 0 { seen.short += 1 }
                if first > 127 { seen.high += 1 }
            }
        }
        #expect(seen.short > 0 && seen.high > 0)
    }

    @Test(arguments: SignatureAlgorithm.allCases)
    func aKeySurvivesItsPKCS8FormAndItsCoordinates(algorithm: SignatureAlgorithm) throws {
        for _ in 0..<20 {
            let key = SigningKey.generate(algorithm)
            let again = try #require(SigningKey(pkcs8DER: key.pkcs8DER))
            #expect(again.algorithm == algorithm)
            #expect(again.publicKey == key.publicKey)
            let rebuilt = try #require(VerificationKey(key.publicKey.coordinates))
            #expect(rebuilt.isValidSignature(again.sign(sample), for: sample))
        }
    }

    @Test func refusesPointsThatAreNotOnP256() throws {
        let zero = String(repeating: "00", count: 32)
        #expect(try p256(x, x) == nil)
        #expect(try p256(zero, zero) == nil)
        #expect(try p256(String(repeating: "ff", count: 32), y) == nil)
        #expect(VerificationKey(.p256(x: try bytes(x).dropLast(), y: try bytes(y))) == nil)
        #expect(VerificationKey(.p256(x: [0] + (try bytes(x)), y: try bytes(y))) == nil)
        #expect(VerificationKey(.ed25519(x: Array(repeating: 1, count: 31))) == nil)
        #expect(VerificationKey(.ed25519(x: [])) == nil)
        #expect(try p256(x, y) != nil)
    }

    @Test func refusesBrokenAndForeignPrivateKeys() throws {
        let sound = SigningKey.generate(.es256).pkcs8DER
        for count in sound.indices { #expect(SigningKey(pkcs8DER: Array(sound.prefix(count))) == nil) }
        #expect(SigningKey(pkcs8DER: sound + [0]) == nil)
        for index in sound.indices {
            var other = sound
            other[index] ^= 0x10
            if let key = SigningKey(pkcs8DER: other) {
                #expect(key.publicKey.isValidSignature(key.sign(sample), for: sample))
            }
        }
        // secp384r1, from `openssl genpkey`
        #expect(SigningKey(pkcs8DER: try bytes(P384)) == nil)
    }

    @Test("an RSA key with a changed byte is refused, or signs what its public half accepts")
    func changedRSAKeys() throws {
        let sound = SigningKey.generate(.rs256)
        let der = sound.pkcs8DER
        for index in stride(from: 0, to: der.count, by: 61) {
            var other = der
            other[index] ^= 0x10
            guard let key = SigningKey(pkcs8DER: other) else { continue }
            #expect(key.publicKey.isValidSignature(key.sign(sample), for: sample))
        }
        // The modulus fills these bytes.
        for index in stride(from: 40, to: 280, by: 48) {
            var other = der
            other[index] ^= 0x10
            #expect(SigningKey(pkcs8DER: other) == nil)
        }
        #expect(try #require(SigningKey(pkcs8DER: der)).publicKey == sound.publicKey)
    }

    @Test func oneKeySignsOnManyThreadsAtOnce() async {
        for algorithm in SignatureAlgorithm.allCases {
            let key = SigningKey.generate(algorithm)
            let answers = await withTaskGroup(of: Bool.self) { group in
                for number in 0..<8 {
                    group.addTask {
                        let message = [UInt8(number)]
                        return (0..<50).allSatisfy { _ in
                            key.publicKey.isValidSignature(key.sign(message), for: message)
                        }
                    }
                }
                return await group.reduce(into: []) { $0.append($1) }
            }
            #expect(answers == Array(repeating: true, count: 8))
        }
    }
}

private let P384 =
    "3081b6020100301006072a8648ce3d020106052b8104002204819e30819b0201010430181461247ba51432416909820bee9c0333c14923560ecb65b50af8cdd9ceabafdef3dc4ea0a86a381e8074ec06dbc1faa16403620004b02b8449362327c9a760d92cad10072cf12d40d540d4db5fd01110999dd3ebf8b25f8299d8504051c08e51a9be87a5ebe52bc8c4c838170670629a01746e671339fe4059ed2e6ebf1af33da4935acd4d6e654331f31dd93a4d3bab96fcbdd15e"
