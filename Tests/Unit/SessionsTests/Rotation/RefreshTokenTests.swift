import Cryptography
import Sessions
import Testing

struct RefreshTokenTests {
    private let keys: RootKeys
    private let coder: RefreshTokenCoder
    private let token = RefreshToken(sessionID: Identifier(random: .system), serial: 0x0102_0304_0506)

    init() throws {
        keys = try #require(RootKeys([.random()]))
        coder = RefreshTokenCoder(rootKeys: keys)
    }

    @Test func token_survivesTheRoundTrip() {
        let text = coder.encode(token)
        #expect(text.hasPrefix("sjr_"))
        #expect(text.utf8.count == 60)
        #expect(coder.decode(text) == token)
    }

    @Test func sameSerial_isTheSameToken() { #expect(coder.encode(token) == coder.encode(token)) }

    @Test func anyChangedCharacter_isRefused() {
        let text = Array(coder.encode(token).utf8)
        for index in text.indices {
            for replacement in "A_z9-.=".utf8 where replacement != text[index] {
                var changed = text
                changed[index] = replacement
                #expect(coder.decode(String(decoding: changed, as: UTF8.self)) == nil)
            }
        }
    }

    @Test func cutOrPaddedText_isRefused() {
        let text = coder.encode(token)
        for count in 0..<text.utf8.count { #expect(coder.decode(String(text.prefix(count))) == nil) }
        for padding in ["=", " ", "A", "\n", "AAAA"] { #expect(coder.decode(text + padding) == nil) }
        #expect(coder.decode(String(repeating: "A", count: 100_000)) == nil)
    }

    @Test func anotherRootKey_refuses_andASecondOneAccepts() throws {
        // Two random keys share their one-byte id once in 256 times; such a pair is refused, so take the next.
        var pair: (secrets: [SecretKey], keys: RootKeys)?
        while pair == nil {
            let secrets: [SecretKey] = [.random(), .random()]
            pair = RootKeys(secrets).map { (secrets, $0) }
        }
        let (secrets, both) = try #require(pair)
        let old = RefreshTokenCoder(rootKeys: try #require(RootKeys([secrets[1]]))).encode(token)
        #expect(RefreshTokenCoder(rootKeys: both).decode(old) == token)
        #expect(RefreshTokenCoder(rootKeys: try #require(RootKeys([secrets[0]]))).decode(old) == nil)
    }

    @Test func sameKeyTwice_isRefused() {
        let secret = SecretKey.random()
        #expect(RootKeys([secret, secret]) == nil)
        #expect(RootKeys([]) == nil)
    }

    @Test func serialZeroAndSerialsBeyondTheDatabase_areRefused() {
        let id = token.sessionID
        for serial in [0, UInt64(Int64.max), .max] {
            #expect(coder.decode(coder.encode(RefreshToken(sessionID: id, serial: serial))) == nil)
        }
        let last = RefreshToken(sessionID: id, serial: UInt64(Int64.max) - 1)
        #expect(coder.decode(coder.encode(last)) == last)
    }
}
