import Cryptography
import Sessions
import Synchronization
import Testing

struct PhoneLoginCodeTests {
    private let coder: PhoneLoginCodeCoder
    private let handle: [UInt8] = [1, 2, 3, 4, 5, 6, 7, 8]
    private let now = Instant(secondsSinceEpoch: 1_800_000_003)

    init() throws { coder = try Self.coder(7) }

    private static func coder(_ bytes: UInt8...) throws -> PhoneLoginCodeCoder {
        let secrets = try bytes.map { try #require(SecretKey([UInt8](repeating: $0, count: 32))) }
        return PhoneLoginCodeCoder(rootKeys: try #require(RootKeys(secrets)))
    }

    private func picture(at time: Instant) -> String {
        coder.text(PhoneLoginCode(handle: handle, kind: .picture), at: time)
    }

    @Test func link_isShort_andOfTheAlphanumericMode() throws {
        let link = coder.link(
            PhoneLoginCode(handle: handle, kind: .picture), base: "https://login.example.com:8443", at: now)
        #expect(link.hasPrefix("HTTPS://LOGIN.EXAMPLE.COM:8443/L/"))
        #expect(link.split(separator: "/").last?.utf8.count == PhoneLoginCodeCoder.textCount)
        let alphabet = Set("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ $%*+-./:")
        #expect(link.allSatisfy(alphabet.contains))
    }

    @Test(arguments: PhoneLoginCode.Kind.allCases) func code_isReadBack(_ kind: PhoneLoginCode.Kind) {
        let code = PhoneLoginCode(handle: handle, kind: kind)
        #expect(coder.code(in: coder.text(code, at: now), at: now) == code)
        #expect(coder.code(in: coder.link(code, base: "https://a.example", at: now), at: now) == code)
        #expect(coder.code(in: coder.link(code, base: "https://a.example", at: now).lowercased(), at: now) == code)
    }

    /// The first second of a slot, so that two slots are 20 seconds from there on.
    @Test func picture_isAcceptedInItsSlotAndTheNext_andInNoOther() {
        let start = Instant(secondsSinceEpoch: 1_800_000_000)
        let text = picture(at: start)
        for second in -1...25 {
            let isAccepted = coder.code(in: text, at: start + .seconds(Int64(second))) != nil
            #expect(isAccepted == (0..<20).contains(second), "second \(second)")
        }
    }

    @Test func invitation_isGoodOnPaper_andNoCodeOfALogin() throws {
        let secret = try #require(SecretKey([UInt8](repeating: 7, count: 32)))
        let invitations = PhoneLoginCodeCoder(.invitations, rootKeys: try #require(RootKeys([secret])))
        let code = PhoneLoginCode(handle: handle, kind: .picture)
        let link = invitations.link(code, base: "https://a.example", at: now)
        #expect(link.hasPrefix("HTTPS://A.EXAMPLE/E/"))
        #expect(invitations.code(in: link, at: now + .seconds(86_400)) == code)
        #expect(coder.code(in: link, at: now) == nil && invitations.code(in: picture(at: now), at: now) == nil)
    }

    @Test func printout_isDead_alsoWhenTheShortSlotComesAgain() {
        let text = picture(at: now)
        for minute in 1...180 { #expect(coder.code(in: text, at: now + .seconds(Int64(minute * 60))) == nil) }
        // 64 slots later the byte of the slot is the same.
        #expect(coder.code(in: text, at: now + .seconds(640)) == nil)
        #expect(coder.code(in: text, at: now + .seconds(640 * 3)) == nil)
    }

    @Test func linkAndPush_areGoodAsLongAsTheLogin() {
        for kind in [PhoneLoginCode.Kind.link, .push] {
            let text = coder.text(PhoneLoginCode(handle: handle, kind: kind), at: now)
            #expect(coder.code(in: text, at: now + .seconds(180)) != nil)
        }
    }

    @Test func pictureThatComesAsALink_isRefused() {
        #expect(PhoneLoginCode(handle: handle, kind: .picture).arrival(from: .camera) == .scanned)
        #expect(PhoneLoginCode(handle: handle, kind: .picture).arrival(from: .link) == nil)
        #expect(PhoneLoginCode(handle: handle, kind: .picture).arrival(from: .push) == nil)
        #expect(PhoneLoginCode(handle: handle, kind: .link).arrival(from: .link) == .linked)
        #expect(PhoneLoginCode(handle: handle, kind: .link).arrival(from: .camera) == nil)
        #expect(PhoneLoginCode(handle: handle, kind: .push).arrival(from: .push) == .pushed)
        #expect(PhoneLoginCode(handle: handle, kind: .push).arrival(from: .link) == nil)
    }

    @Test func flippedBit_isRefused() throws {
        for kind in PhoneLoginCode.Kind.allCases {
            let text = Array(coder.text(PhoneLoginCode(handle: handle, kind: kind), at: now).utf8)
            let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".utf8)
            for index in text.indices {
                let value = try #require(alphabet.firstIndex(of: text[index]))
                for bit in 0..<5 {
                    var flipped = text
                    flipped[index] = alphabet[value ^ (1 << bit)]
                    #expect(coder.code(in: String(decoding: flipped, as: UTF8.self), at: now) == nil)
                }
            }
        }
    }

    @Test(arguments: [
        "", "A", "/", "HTTPS://A/L/", String(repeating: "A", count: 26), String(repeating: "A", count: 600),
    ])
    func otherText_isNoCode(text: String) { #expect(coder.code(in: text, at: now) == nil) }

    @Test func codeOfAnotherServer_isRefused_andOfAnOlderRootKeyAccepted() throws {
        let code = PhoneLoginCode(handle: handle, kind: .picture)
        #expect(try Self.coder(8).code(in: coder.text(code, at: now), at: now) == nil)
        #expect(try Self.coder(8, 7).code(in: coder.text(code, at: now), at: now) == code)
    }

    // MARK: User code and number

    @Test func userCode_hasEightOfTwentyLetters_eachAsLikely() {
        var counts: [Character: Int] = [:]
        for _ in 0..<2000 {
            let code = UserCode.random(.system)
            #expect(code.count == 8)
            for letter in code { counts[letter, default: 0] += 1 }
        }
        #expect(Set(counts.keys) == Set("BCDFGHJKLMNPQRSTVWXZ"))
        // 800 are expected of each, with a standard deviation below 28.
        #expect(counts.values.allSatisfy { (600...1000).contains($0) })
    }

    @Test func userCode_isReadAsUsersTypeIt() {
        #expect(UserCode.shown("BCDFGHJK") == "BCDF-GHJK")
        for text in ["BCDF-GHJK", "bcdfghjk", " bcdf ghjk ", "B.C.D.F-G H_J/K"] {
            #expect(UserCode.typed(text) == "BCDFGHJK")
        }
        for text in [
            "BCDF-GHJ", "BCDF-GHJKL", "ACDF-GHJK", "BCDF-GHJ1", "ＢCDFGHJK", "", String(repeating: "-", count: 99),
        ] {
            #expect(UserCode.typed(text) == nil, "\(text)")
        }
    }

    @Test func randomBytesThatFavorSomeLetters_areDrawnAgain() {
        let draws = Mutex([[UInt8](repeating: 255, count: 16), [UInt8](0..<16)])
        let source = RandomSource { _ in draws.withLock { $0.removeFirst() } }
        #expect(UserCode.random(source) == "BCDFGHJK")
    }

    @Test func number_hasTwoDigits_eachAsLikely() {
        let numbers = (0..<9000).map { _ in MatchingNumber.random(.system) }
        #expect(Set(numbers) == Set(10...99))
        let counts = Dictionary(grouping: numbers, by: \.self).mapValues(\.count)
        #expect(counts.values.allSatisfy { (40...170).contains($0) })
    }
}
