import Testing

@testable import Cryptography

@Suite struct ScryptTests {
    private func cheap() throws -> Scrypt { try #require(Scrypt(logN: 4, r: 1, p: 1)) }
    private let password = Array("pässword".utf8)

    @Test func derivesAsRFC7914() throws {
        // §12, the first two
        #expect(
            Hex.encode(try cheap().derive([], salt: [], count: 64))
                == "77d6576238657b203b19ca42c18a0497f16b4844e3074ae8dfdffa3fede21442fcd0069ded0948f8326a753a0fc81f17e8d3e0fb2e0d3628cf35e20c38d18906"
        )
        let second = try #require(Scrypt(logN: 10, r: 8, p: 16))
        #expect(
            Hex.encode(try second.derive(Array("password".utf8), salt: Array("NaCl".utf8), count: 64))
                == "fdbabe1c9d3472007856e7190d01e9fe7c6ad7cbc8237830e77376634b3731622eaf30d92e22a3886ff109279d9830dac727afb94a83ee6d8360cbdfa2cc0640"
        )
    }

    @Test func hashIsAPHCStringThatVerifies() throws {
        let text = try cheap().hash(password)
        #expect(text.hasPrefix("$scrypt$ln=4,r=1,p=1$"))
        #expect(!text.contains("=$") && !text.hasSuffix("="))
        #expect(try cheap().verify(password, against: text))
        #expect(try Scrypt.standard.verify(password, against: text), "the cost is the string's own")
        #expect(try !cheap().verify(password + [33], against: text))
        #expect(try !cheap().verify([], against: text))
        #expect(try cheap().hash(password) != text, "each time another salt")
    }

    @Test func writesAKnownString() throws {
        let text = try #require(Scrypt(logN: 10, r: 8, p: 16)).hash(
            password, random: RandomSource { Array(repeating: 0xfb, count: $0) })
        // hashlib.scrypt("pässword", salt=16 × fb, n=1024, r=8, p=16, dklen=32) of Python
        #expect(text == "$scrypt$ln=10,r=8,p=16$+/v7+/v7+/v7+/v7+/v7+w$Eoz8pHrgeQl6p7JofZALhI8ck9mGxEQTh0dEDunIcoI")
    }

    @Test func theStandardCostWorksWithinItsMemory() throws {
        let text = try Scrypt.standard.hash(password)
        #expect(text.hasPrefix("$scrypt$ln=17,r=8,p=1$"))
        #expect(try Scrypt.standard.verify(password, against: text))
        try Scrypt.standard.verifyAgainstNothing(password)
    }

    @Test func refusesNULAndMoreThan1024Bytes() throws {
        let scrypt = try cheap()
        #expect(throws: PasswordError.containsNUL) { try scrypt.hash([112, 119, 0]) }
        #expect(throws: PasswordError.tooLong) { try scrypt.hash([UInt8](repeating: 1, count: 1025)) }
        let text = try scrypt.hash([112, 119])
        #expect(try !scrypt.verify([112, 119, 0], against: text))
        let longest = [UInt8](repeating: 1, count: 1024)
        let other = try scrypt.hash(longest)
        #expect(try scrypt.verify(longest, against: other))
        #expect(try !scrypt.verify(Array(longest.dropLast()) + [2], against: other), "all 1024 bytes count")
    }

    @Test(arguments: [
        "", "$", "$$$$", "$scrypt$", "scrypt$ln=4,r=1,p=1$c2FsdHNhbHRzYWx0$AAAAAAAAAAAAAAAAAAAAAA",
        "$scrypt$ln=4,r=1$c2FsdHNhbHRzYWx0$AAAAAAAAAAAAAAAAAAAAAA",
        "$scrypt$ln=4,p=1,r=1$c2FsdHNhbHRzYWx0$AAAAAAAAAAAAAAAAAAAAAA",
        "$scrypt$ln=04,r=1,p=1$c2FsdHNhbHRzYWx0$AAAAAAAAAAAAAAAAAAAAAA",
        "$scrypt$ln=+4,r=1,p=1$c2FsdHNhbHRzYWx0$AAAAAAAAAAAAAAAAAAAAAA",
        "$scrypt$ln=4,r=1,p=1$c2FsdHNhbHRzYWx0$", "$scrypt$ln=4,r=1,p=1$$AAAAAAAAAAAAAAAAAAAAAA",
        "$scrypt$ln=4,r=1,p=1$c2FsdHNhbHRzYWx0$AAAAAAAAAAAAAAAAAAAAAA==",
        "$scrypt$ln=4,r=1,p=1$c2FsdHNhbHRzYW_-$AAAAAAAAAAAAAAAAAAAAAA",
        "$scrypt$ln=4,r=1,p=1$c2FsdHNhbHRzYWx0$AAAAAAAAAAAAAAAAAAAAAA$",
        // what would take too much memory or time
        "$scrypt$ln=30,r=8,p=1$c2FsdHNhbHRzYWx0$AAAAAAAAAAAAAAAAAAAAAA",
        "$scrypt$ln=18,r=8,p=1$c2FsdHNhbHRzYWx0$AAAAAAAAAAAAAAAAAAAAAA",
        "$scrypt$ln=17,r=8,p=9$c2FsdHNhbHRzYWx0$AAAAAAAAAAAAAAAAAAAAAA",
        "$scrypt$ln=1,r=9999,p=9999$c2FsdHNhbHRzYWx0$AAAAAAAAAAAAAAAAAAAAAA",
        "$scrypt$ln=9999,r=1,p=1$c2FsdHNhbHRzYWx0$AAAAAAAAAAAAAAAAAAAAAA",
        "$scrypt$ln=0,r=1,p=1$c2FsdHNhbHRzYWx0$AAAAAAAAAAAAAAAAAAAAAA",
        "$2b$12$LJ3m4ys3Lk0TdeL9wzQz8e", "$argon2id$v=19$m=65536,t=2,p=1$gZiV/M1gPc22ElAH/Jh1Hw$CWOrkoo7oJBQ",
    ])
    func storedStringsOutOfBoundsMatchNothing(text: String) throws {
        #expect(PHCString(text) == nil)
        #expect(try !Scrypt.standard.verify(password, against: text))
        #expect(Scrypt.standard.needsRehash(text))
    }

    @Test func theBoundaryOfTheRefusedStringsIsAccepted() {
        #expect(PHCString("$scrypt$ln=4,r=1,p=1$c2FsdHNhbHRzYWx0$AAAAAAAAAAAAAAAAAAAAAA") != nil)
        #expect(PHCString("$scrypt$ln=17,r=8,p=4$c2FsdHNhbHRzYWx0$AAAAAAAAAAAAAAAAAAAAAA") != nil)
    }

    @Test func rehashesWhenTheParametersRose() throws {
        let stored = try #require(Scrypt(logN: 5, r: 2, p: 2)).hash(password)
        let cases = [(5, 2, 2, false), (6, 2, 2, true), (5, 3, 2, true), (5, 2, 3, true), (4, 1, 1, false)]
        for (logN, r, p, needed) in cases {
            #expect(try #require(Scrypt(logN: logN, r: r, p: p)).needsRehash(stored) == needed)
        }
    }
}
