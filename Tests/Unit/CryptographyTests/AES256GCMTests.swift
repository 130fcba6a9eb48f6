import Testing

@testable import Cryptography

@Suite struct AES256GCMTests {
    @Test func sealsAsTheGCMSpecification() throws {
        // McGrew and Viega, "The Galois/Counter Mode of Operation", test case 16: AES-256 with associated data
        let key = try #require(
            SecretKey(bytes("feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308")))
        let nonce = try bytes("cafebabefacedbaddecaf888")
        let plaintext = try bytes(
            "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a721c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39"
        )
        let associatedData = try bytes("feedfacedeadbeeffeedfacedeadbeefabaddad2")
        let sealed = AES256GCM(key: key).seal(
            plaintext, associatedData: associatedData, random: RandomSource { _ in nonce })
        #expect(
            Hex.encode(sealed) == "cafebabefacedbaddecaf888"
                + "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0abcc9f662"
                + "76fc6ece0f4e1768cddf8853bb2d551b")
    }

    @Test(arguments: [0, 1, 15, 16, 17, 1000]) func opensWhatItSealed(count: Int) {
        let box = AES256GCM(key: .random())
        let plaintext = randomBytes(count: count)
        let sealed = box.seal(plaintext, associatedData: [1, 2])
        #expect(sealed.count == count + 28)
        #expect(box.open(sealed, associatedData: [1, 2]) == plaintext)
        #expect(box.seal(plaintext, associatedData: [1, 2]) != sealed, "each time another nonce")
        #expect(box.open(box.seal(plaintext, associatedData: []), associatedData: []) == plaintext)
    }

    @Test func refusesEveryFlippedBitAndEveryPrefix() {
        let box = AES256GCM(key: .random())
        let sealed = box.seal(Array("signing key".utf8), associatedData: [9])
        for index in sealed.indices {
            for bit in 0..<8 {
                var other = sealed
                other[index] ^= 1 << UInt8(bit)
                #expect(box.open(other, associatedData: [9]) == nil)
            }
            #expect(box.open(Array(sealed.prefix(index)), associatedData: [9]) == nil)
        }
        #expect(box.open(sealed + [0], associatedData: [9]) == nil)
    }

    @Test func refusesAnotherContextOrKey() {
        let box = AES256GCM(key: .random())
        let sealed = box.seal([1, 2, 3], associatedData: [9])
        #expect(box.open(sealed, associatedData: [8]) == nil)
        #expect(box.open(sealed, associatedData: []) == nil)
        #expect(AES256GCM(key: .random()).open(sealed, associatedData: [9]) == nil)
    }
}

@Suite struct SecretKeyTests {
    @Test func takesExactly32Bytes() {
        #expect(SecretKey(Array(repeating: 1, count: 31)) == nil)
        #expect(SecretKey(Array(repeating: 1, count: 33)) == nil)
        #expect(SecretKey(Array(repeating: 1, count: 32)) == SecretKey(Array(repeating: 1, count: 32)))
        #expect(SecretKey(Array(repeating: 1, count: 32)) != SecretKey(Array(repeating: 2, count: 32)))
    }

    @Test func isNeverShown() throws {
        let key = try #require(SecretKey(Array(repeating: 173, count: 32)))
        var dumped = ""
        dump(key, to: &dumped)
        dump(SigningKey.generate(.es256), to: &dumped)
        dump(AES256GCM(key: key), to: &dumped)
        for text in ["\(key)", String(reflecting: key), "\([key])", "\(Optional(key) as Any)", dumped] {
            #expect(!text.contains("173"))
            #expect(!text.lowercased().contains("ad"))
        }
    }
}
