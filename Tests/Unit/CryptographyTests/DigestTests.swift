import Locks
import Testing

@testable import Cryptography

/// The bytes of hexadecimal text that the test itself contains.
func bytes(_ hex: String) throws -> [UInt8] { try #require(Hex.decode(hex)) }

@Suite struct DigestTests {
    @Test func SHA256HashesAsFIPS180() throws {
        #expect(
            Hex.encode(sha256([])) == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
        #expect(
            Hex.encode(sha256(Array("abc".utf8))) == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
    }

    @Test(arguments: [
        // RFC 4231 §4.2, 4.3, 4.4 and 4.7
        (
            "0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b", "4869205468657265",
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
        ),
        (
            "4a656665", "7768617420646f2079612077616e7420666f72206e6f7468696e673f",
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        ),
        (
            String(repeating: "aa", count: 20), String(repeating: "dd", count: 50),
            "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe"
        ),
        (
            String(repeating: "aa", count: 131),
            "54657374205573696e67204c6172676572205468616e20426c6f636b2d53697a65204b6579202d2048617368204b6579204669727374",
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
        ),
    ])
    func HMACAuthenticatesAsRFC4231(key: String, message: String, tag: String) throws {
        let key = HMACSHA256Key(try bytes(key))
        #expect(Hex.encode(key.authenticate(try bytes(message))) == tag)
        #expect(Hex.encode(key.authenticate(try bytes(message))) == tag, "the keyed context is used again")
        #expect(key.isValidTag(try bytes(tag), for: try bytes(message)))
        #expect(!key.isValidTag(try bytes(tag).dropLast(), for: try bytes(message)))
    }

    @Test func HMACKeyShowsNothingOfItself() {
        let key = HMACSHA256Key([UInt8](repeating: 173, count: 20))
        var dumped = ""
        dump(["key": key], to: &dumped)
        for text in ["\(key)", String(reflecting: key), "\([key])", dumped] {
            #expect(text.contains("HMACSHA256Key(redacted)") && !text.contains("173"), "\(text)")
        }
        #expect(Mirror(reflecting: key).children.isEmpty)
    }

    @Test func HMACKeyServesManyThreadsAtOnce() async throws {
        let key = HMACSHA256Key(randomBytes(count: 32))
        let messages = (0..<200).map { _ in randomBytes(count: 50) }
        let expected = messages.map { key.authenticate($0) }
        let answers = await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<8 { group.addTask { messages.map { key.authenticate($0) } == expected } }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(answers == Array(repeating: true, count: 8))
    }

    @Test func HKDFDerivesAsRFC5869() throws {
        let key = [UInt8](repeating: 0x0b, count: 22)
        // A.1
        let first = hkdfSHA256(
            key: key, info: try bytes("f0f1f2f3f4f5f6f7f8f9"), salt: try bytes("000102030405060708090a0b0c"), count: 42)
        #expect(
            Hex.encode(first)
                == "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865")
        // A.3: neither salt nor info
        let third = hkdfSHA256(key: key, info: [], count: 42)
        #expect(
            Hex.encode(third)
                == "8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d9d201395faa4b61a96c8")
    }

    @Test func HKDFSeparatesPurposes() {
        let key = SecretKey.random()
        #expect(hkdfSHA256(key: key, info: "one") == hkdfSHA256(key: key, info: "one"))
        #expect(hkdfSHA256(key: key, info: "one") != hkdfSHA256(key: key, info: "two"))
    }

    @Test func constantTimeEqualComparesBytesAndLengths() {
        #expect(constantTimeEqual([], []))
        #expect(constantTimeEqual([1, 2, 3], [1, 2, 3]))
        #expect(!constantTimeEqual([1, 2, 3], [1, 2, 4]))
        #expect(!constantTimeEqual([0, 2, 3], [1, 2, 3]))
        #expect(!constantTimeEqual([1, 2, 3], [1, 2]))
        #expect(!constantTimeEqual([], [0]))
    }

    @Test func randomBytesAreAsManyAsAskedForAndNew() {
        #expect(randomBytes(count: 0).isEmpty)
        #expect(randomBytes(count: 33).count == 33)
        #expect(randomBytes(count: 32) != randomBytes(count: 32))
        #expect(RandomSource { Array(repeating: 7, count: $0) }.bytes(3) == [7, 7, 7])
    }

    @Test func aStockGivesEveryByteOfItsSourceOnce() {
        let drawn = Locked(0)
        let source = RandomSource { count in
            drawn.withLock { drawn in
                defer { drawn += count }
                return (drawn..<drawn + count).map { UInt8(truncatingIfNeeded: $0 >> 4) }
            }
        }
        let stock = source.inBatches
        var seen = Set((0..<64).map { _ in stock.bytes(16) })
        #expect(seen.count == 64 && drawn.withLock { $0 } == 1024, "so far one draw")
        seen.insert(stock.bytes(2000))
        #expect(seen.count == 65 && stock.bytes(0).isEmpty)
    }
}
