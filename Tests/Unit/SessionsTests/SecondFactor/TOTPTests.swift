import Testing

@testable import Sessions

/// The vectors of RFC 6238 appendix B and of RFC 4226 appendix D, and the window of a code.
struct TOTPTests {
    private static let text = "12345678901234567890123456789012345678901234567890123456789012345678901234567890"

    private static func seed(_ count: Int) -> [UInt8] { Array(text.utf8.prefix(count)) }

    private struct Row {
        let time: Int64
        let sha1, sha256, sha512: String
    }

    private static let rows = [
        Row(time: 59, sha1: "94287082", sha256: "46119246", sha512: "90693936"),
        Row(time: 1_111_111_109, sha1: "07081804", sha256: "68084774", sha512: "25091201"),
        Row(time: 1_111_111_111, sha1: "14050471", sha256: "67062674", sha512: "99943326"),
        Row(time: 1_234_567_890, sha1: "89005924", sha256: "91819424", sha512: "93441116"),
        Row(time: 2_000_000_000, sha1: "69279037", sha256: "90698825", sha512: "38618901"),
        Row(time: 20_000_000_000, sha1: "65353130", sha256: "77737706", sha512: "47863826"),
    ]

    @Test("Codes are those of RFC 6238 appendix B")
    func appendixB() throws {
        for (algorithm, count) in [("SHA1", 20), ("SHA256", 32), ("SHA512", 64)] {
            let totp = try #require(TOTP(algorithm: algorithm, digits: 8, period: 30))
            for row in Self.rows {
                let code = totp.code(
                    seed: Self.seed(count), step: totp.step(at: Instant(secondsSinceEpoch: row.time)))

                #expect(code == (count == 20 ? row.sha1 : count == 32 ? row.sha256 : row.sha512))
            }
        }
    }

    @Test("Codes are those of RFC 4226 appendix D")
    func appendixD() {
        let codes = [
            "755224", "287082", "359152", "969429", "338314", "254676", "287922", "162583", "399871", "520489",
        ]
        #expect((0..<10).map { TOTP.own.code(seed: Self.seed(20), step: Int64($0)) } == codes)
    }

    @Test("A code counts one step before and after its own, once")
    func window() {
        let (seed, now) = (Self.seed(20), Instant(secondsSinceEpoch: 1_800_000_000))
        let step = TOTP.own.step(at: now)
        func match(_ offset: Int64, after last: Int64 = 0) -> TOTP.Match {
            TOTP.own.match(TOTP.own.code(seed: seed, step: step + offset), seed: seed, at: now, after: last)
        }

        #expect((-1...1).map { match($0) } == [.step(step - 1), .step(step), .step(step + 1)])
        #expect(match(0, after: step) == .spent)
        #expect(match(-1, after: step) == .spent)
        #expect(match(1, after: step) == .step(step + 1))
        #expect([-20, -2, 2, 20].map { match($0) } == Array(repeating: .wrong(clockDiffers: true), count: 4))
        #expect([-21, 21, 1000].map { match($0) } == Array(repeating: .wrong(clockDiffers: false), count: 3))
    }

    @Test("Other texts are no codes")
    func otherTexts() {
        let now = Instant(secondsSinceEpoch: 59)
        for text in ["", "28708", "2870820", "28708a", "２８７０８２", "-87082"] {
            #expect(TOTP.own.match(text, seed: Self.seed(20), at: now, after: -1) == .wrong(clockDiffers: false))
        }
        #expect(TOTP.own.match("287082", seed: Self.seed(20), at: now, after: -1) == .step(1))
    }

    @Test("Of two steps with equal codes the newest one counts")
    func equalCodes() {
        // The codes of these two steps of the seed of RFC 4226 are the same, by chance.
        let (seed, step) = (Self.seed(20), Int64(910_737))
        let code = TOTP.own.code(seed: seed, step: step)
        let now = Instant(secondsSinceEpoch: step * 30)

        #expect(code == TOTP.own.code(seed: seed, step: step + 1))
        #expect(TOTP.own.match(code, seed: seed, at: now, after: step) == .step(step + 1))
    }

    @Test("Parameters outside of RFC 6238 are not supported")
    func parameters() {
        #expect(TOTP(algorithm: "SHA1", digits: 6, period: 30) == .own)
        #expect(TOTP(algorithm: "MD5", digits: 6, period: 30) == nil)
        #expect(TOTP(algorithm: "SHA1", digits: 5, period: 30) == nil)
        #expect(TOTP(algorithm: "SHA1", digits: 9, period: 30) == nil)
        #expect(TOTP(algorithm: "SHA1", digits: 6, period: 0) == nil)
    }

    @Test("The address names seed and issuer, and escapes names")
    func address() {
        let uri = TOTP.uri(seed: Self.seed(20), issuer: "login.example", account: "anna & <b>@x")
        let name = "login.example:anna%20%26%20%3Cb%3E%40x"
        #expect(uri == "otpauth://totp/\(name)?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&issuer=login.example")
    }
}
