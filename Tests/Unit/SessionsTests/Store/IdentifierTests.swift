import Cryptography
import Sessions
import Testing

/// The first three digits of an identifier are the number of its cell, for proxies that choose a database by a token.
@Suite("The cell of an identifier") struct IdentifierTests {
    @Test("a new one is of the cell 000, and its other 116 bits are those of the random source")
    func newIdentifiers() {
        let ones = Identifier<Session>(random: RandomSource { Array(repeating: 0xFF, count: $0) })
        #expect(ones.description == "000" + String(repeating: "f", count: 29))
        var seen: Set<Identifier<Session>> = []
        for bit in 0..<128 {
            let bytes = (0..<16).map { UInt8($0 == bit / 8 ? 0x80 >> (bit % 8) : 0) }
            let one = Identifier<Session>(random: RandomSource { _ in bytes })
            #expect(one.bytes == (bit < 12 ? [UInt8](repeating: 0, count: 16) : bytes), "\(bit)")
            seen.insert(one)
        }
        #expect(seen.count == 117)
    }

    @Test("one that is derived from a digest of any length is of the cell 000 as well") func derivedIdentifiers() {
        let digest = sha256(Array("anna".utf8))
        let one = Identifier<User>(drawn: digest)
        #expect(one.bytes[0] == 0 && one.bytes[1] == digest[1] & 0x0F)
        #expect(Array(one.bytes[2...]) == Array(digest[2..<16]))
        #expect(Identifier<User>(drawn: digest) == one)
    }

    @Test("one of another cell stays as it is, in text, in bytes and in a refresh token") func foreignIdentifiers()
        throws
    {
        let text = "7ab" + String(repeating: "5", count: 29)
        let one = try #require(Identifier<Session>(text))
        #expect(one.description == text && Identifier<Session>(bytes: one.bytes) == one)
        let coder = RefreshTokenCoder(rootKeys: try #require(RootKeys([.random()])))
        let token = RefreshToken(sessionID: one, serial: 7)
        #expect(coder.decode(coder.encode(token)) == token)
    }

    /// What the page about cells tells a proxy to do: skip `sjr_`, decode base64url, and take the fifth to the seventh digit.
    @Test("a refresh token names the cell at a fixed place", arguments: ["000", "001", "7ab", "fff"])
    func placeInARefreshToken(_ cell: String) throws {
        let coder = RefreshTokenCoder(rootKeys: try #require(RootKeys([.random()])))
        let id = try #require(Identifier<Session>(cell + String(repeating: "e", count: 29)))
        let text = coder.encode(RefreshToken(sessionID: id, serial: 1))
        let bytes = try #require(Base64URL.decode(String(text.dropFirst(4))))
        #expect(Hex.encode(bytes).dropFirst(4).prefix(3) == cell)
    }
}
