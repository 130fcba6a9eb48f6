import Testing

@testable import Cryptography

@Suite struct TextFormTests {
    @Test(arguments: [
        // RFC 4648 §10 without its padding, and RFC 7515 appendix C
        ("", ""), ("f", "Zg"), ("fo", "Zm8"), ("foo", "Zm9v"), ("foob", "Zm9vYg"), ("fooba", "Zm9vYmE"),
        ("foobar", "Zm9vYmFy"),
    ])
    func base64URLEncodesAsRFC4648(plain: String, text: String) {
        #expect(Base64URL.encode(Array(plain.utf8)) == text)
        #expect(Base64URL.decode(text) == Array(plain.utf8))
    }

    @Test func base64URLUsesTheURLAlphabet() {
        #expect(Base64URL.encode([3, 236, 255, 224, 193]) == "A-z_4ME")
        #expect(Base64URL.decode("A-z_4ME") == [3, 236, 255, 224, 193])
    }

    @Test(arguments: [
        "Zg==", "Zm8=", "A", "Zm9vY", "Zm9v\n", " Zm9v", "Zm 9v", "A+z/4ME", "Zh", "Zm9", "Zm9vYmF", "Zm9\u{0}", "Zmé8",
        "ｚm9v", "Zm9v.", "====", "_\u{7f}__",
    ])
    func base64URLRefusesAllThatItWouldNotWrite(text: String) {
        #expect(Base64URL.decode(text) == nil)
    }

    @Test func base64URLHasOneTextForEachValue() {
        let characters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
        var accepted = 0
        for first in characters {
            for second in characters {
                guard let value = Base64URL.decode(utf8: [first, second]) else { continue }
                accepted += 1
                #expect(Base64URL.encodeUTF8(value) == [first, second])
            }
        }
        #expect(accepted == 256)
    }

    @Test func bothFormsRoundTripEveryLength() {
        for count in 0..<100 {
            let value = randomBytes(count: count)
            #expect(Base64URL.decode(Base64URL.encode(value)) == value)
            #expect(Hex.decode(Hex.encode(value)) == value)
        }
    }

    @Test func hexIsLowerCaseOnly() {
        #expect(Hex.encode([0, 15, 160, 255]) == "000fa0ff")
        for text in ["0", "000", "0A", "0g", " 00", "0x00", "００"] { #expect(Hex.decode(text) == nil) }
    }
}
