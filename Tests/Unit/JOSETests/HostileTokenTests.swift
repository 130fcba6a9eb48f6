import Cryptography
import Testing

@testable import JOSE

/// Tokens that an attacker made in the hope of being believed. Those with a signature are truly signed by the right key.
@Suite struct HostileTokenTests {
    private let key = SigningKey.generate(.es256)

    @Test(arguments: [
        #"{"alg":"none","typ":"at+jwt"}"#, #"{"alg":"None","typ":"at+jwt"}"#, #"{"alg":"","typ":"at+jwt"}"#,
        #"{"alg":"HS256","typ":"at+jwt"}"#, #"{"alg":"RS1","typ":"at+jwt"}"#, #"{"alg":"es256","typ":"at+jwt"}"#,
        #"{"alg":"ES256K","typ":"at+jwt"}"#, #"{"alg":"ES256 ","typ":"at+jwt"}"#,
    ])
    func otherAlgorithmsDoNotExist(header: String) throws {
        #expect(refusal(token(header: header, key: key), key: key.publicKey) == .unsupportedAlgorithm)
        let unsigned = token(header: header, key: key).split(separator: ".").dropLast().joined(separator: ".") + "."
        #expect(refusal(unsigned, key: key.publicKey) == .unsupportedAlgorithm)
    }

    @Test(arguments: VerificationAlgorithm.allCases.filter { $0 != .es256 })
    func aKeyVerifiesNoAlgorithmButItsOwn(_ algorithm: VerificationAlgorithm) throws {
        let token = token(header: #"{"alg":"\#(algorithm.rawValue)","typ":"at+jwt"}"#, key: key)
        #expect(refusal(token, key: key.publicKey) == .algorithmMismatch)
    }

    @Test(arguments: [
        ("", JWTError.malformed), ("null", .invalidHeader), ("[]", .invalidHeader), (#""ES256""#, .invalidHeader),
        ("{}", .invalidHeader), (#"{"typ":"at+jwt"}"#, .invalidHeader), (#"{"alg":1,"typ":"at+jwt"}"#, .invalidHeader),
        (#"{"alg":["ES256"],"typ":"at+jwt"}"#, .invalidHeader), (#"{"alg":null,"typ":"at+jwt"}"#, .invalidHeader),
        (#"{"alg":"ES256","typ":1}"#, .invalidHeader), (#"{"alg":"ES256","typ":"at+jwt","kid":7}"#, .invalidHeader),
        (#"{"alg":"ES256","typ":"at+jwt"}x"#, .invalidHeader), (#"{"alg":"ES256","typ":"at+jwt""#, .invalidHeader),
        (#"{"alg":"ES256","typ":"at+jwt",}"#, .invalidHeader), (#"{alg:"ES256","typ":"at+jwt"}"#, .invalidHeader),
        (#"{'alg':'ES256','typ':'at+jwt'}"#, .invalidHeader),
        (#"{"alg":"ES256","typ":"at+jwt"/*:*/}"#, .invalidHeader),
        (#"{"alg":"ES256","typ":"at+jwt"}{"alg":"ES256"}"#, .invalidHeader),
        ("{\"alg\":\"ES256\",\"typ\":\"at+jwt\"}\0", .invalidHeader),
        ("\u{feff}{\"alg\":\"ES256\",\"typ\":\"at+jwt\"}", .invalidHeader),
        (#"{"alg":"ES256"}"#, .unexpectedType), (#"{"alg":"ES256","typ":"JWT"}"#, .unexpectedType),
        (#"{"alg":"ES256","typ":"dpop+jwt"}"#, .unexpectedType), (#"{"alg":"ES256","typ":""}"#, .unexpectedType),
        (#"{"alg":"ES256","typ":"at+jwt","crit":[]}"#, .criticalExtension),
        (#"{"alg":"ES256","typ":"at+jwt","crit":["exp"],"exp":1}"#, .criticalExtension),
        (#"{"alg":"ES256","typ":"at+jwt","crit":null}"#, .criticalExtension),
        (#"{"alg":"ES256","typ":"at+jwt","b64":false}"#, .criticalExtension),
        (#"{"alg":"ES256","typ":"at+jwt","jwk":{"kty":"EC"}}"#, .embeddedKey),
        (#"{"alg":"ES256","typ":"at+jwt","jku":"https://evil.example"}"#, .embeddedKey),
        (#"{"alg":"ES256","typ":"at+jwt","x5u":"https://evil.example"}"#, .embeddedKey),
        (#"{"alg":"ES256","typ":"at+jwt","x5c":[]}"#, .embeddedKey),
        (#"{"alg":"ES256","alg":"none","typ":"at+jwt"}"#, .duplicateMember),
        (#"{"alg":"none","typ":"at+jwt","alg":"ES256"}"#, .duplicateMember),
        (#"{"alg":"ES256","typ":"at+jwt","\u0061lg":"none"}"#, .duplicateMember),
        (#"{"alg":"ES256","typ":"at+jwt","z":{"a":1,"a":2}}"#, .duplicateMember),
        (#"{"alg":"ES256","typ":"at+jwt","z":[{"a":[{"b":0,"b":0}]}]}"#, .duplicateMember),
        (#"{"alg":"ES256","typ":"at+jwt","z":[[[[[[[[1]]]]]]]]}"#, .nestedTooDeep),
    ])
    func headersThatMustBeRefused(header: String, error: JWTError) {
        #expect(refusal(token(header: header, key: key), key: key.publicKey) == error)
    }

    @Test(arguments: [
        #"{"alg":"ES256","typ":"at+jwt"}"#, #" {"alg" : "ES256" , "typ":"AT+JWT"}  "#,
        #"{"typ":"application/at+jwt","alg":"ES256"}"#,
        #"{"alg":"ES256","typ":"at+jwt","z:":":\":{[","\\":"\\"}"#,
        #"{"alg":"ES256","typ":"at+jwt","z":[[[[[[[1]]]]]]]}"#,
        #"{"alg":"ES256","typ":"at+jwt","z":{"a":1},"y":{"a":1},"x":null,"w":true,"v":1.5}"#,
    ])
    func honestHeadersAreAccepted(header: String) {
        #expect(refusal(token(header: header, key: key), key: key.publicKey) == nil)
    }

    @Test(arguments: [
        ("", JWTError.invalidClaims), ("null", .invalidClaims), ("[]", .invalidClaims), ("1", .invalidClaims),
        (#"{"sub":}"#, .invalidClaims), ("{\"sub\":\"a\tb\"}", .invalidClaims), (#"{"a":[1,]}"#, .invalidClaims),
        (#"{"a":01}"#, .invalidClaims), (#"{"a":+1}"#, .invalidClaims), (#"{"a":1.}"#, .invalidClaims),
        (#"{"a":NaN}"#, .invalidClaims), (#"{"a":True}"#, .invalidClaims), (#"{"a":nul}"#, .invalidClaims),
        (#"{"a":[,1]}"#, .invalidClaims), (#"{,"a":1}"#, .invalidClaims), (#"{"a" 1}"#, .invalidClaims),
        (#"{"a":1 "b":2}"#, .invalidClaims), (#"{"a":"\q"}"#, .invalidClaims), (#"{"a":0x1}"#, .invalidClaims),
        (#"{"a":{},"b":[],"a":{}}"#, .duplicateMember), (#"{"sub":"a"}}"#, .invalidClaims),
        (#"{"sub":"\ud800"}"#, .invalidClaims),
        (#"{"sub":"a","sub":"b"}"#, .duplicateMember), (#"{"cnf":{"jkt":"a","jkt":"b"}}"#, .duplicateMember),
        (String(repeating: #"{"a":"#, count: 9) + "1" + String(repeating: "}", count: 9), .nestedTooDeep),
        (String(repeating: "[", count: 5000), .invalidClaims),
        ("{\"a\":" + String(repeating: "[", count: 5000), .nestedTooDeep),
    ])
    func payloadsThatMustBeRefused(payload: String, error: JWTError) {
        let token = token(header: #"{"alg":"ES256","typ":"at+jwt"}"#, payload: payload, key: key)
        #expect(refusal(token, key: key.publicKey) == error)
    }

    @Test func moreValuesThanAnyTokenHasAreRefused_unread() {
        let payload = "{\"a\":[1" + String(repeating: ",1", count: 1000) + "]}"
        let token = token(header: #"{"alg":"ES256","typ":"at+jwt"}"#, payload: payload, key: key)
        #expect(refusal(token, key: key.publicKey) == .tooManyValues)
    }

    @Test func claimsOfAnotherShapeAreRefused() throws {
        let token = token(header: #"{"alg":"ES256","typ":"at+jwt"}"#, payload: #"{"sub":1}"#, key: key)
        let jwt = try JWT.parse(token).verify(using: { _ in key.publicKey }, type: .accessToken)
        #expect(throws: JWTError.invalidClaims) { try jwt.claims(as: Claims.self) }
    }

    @Test func otherEncodingsThanUTF8AreRefused() {
        let text = #"{"sub":"usr_1"}"#.utf16
        let little = text.flatMap { [UInt8($0 & 0xff), UInt8($0 >> 8)] }
        let big = text.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xff)] }
        for payload in [little, big, [0xff, 0xfe] + little, [0xfe, 0xff] + big] {
            let input =
                Base64URL.encode(Array(#"{"alg":"ES256","typ":"at+jwt"}"#.utf8)) + "." + Base64URL.encode(payload)
            let token = input + "." + Base64URL.encode(key.sign(Array(input.utf8)))
            #expect(refusal(token, key: key.publicKey) == .invalidClaims)
        }
    }

    @Test(arguments: [
        ([0x22, 0xc0, 0x80, 0x22], [0x31]), ([0x22, 0x61, 0x22], [0x22, 0xc0, 0x80, 0x22]),
        ([0x22, 0x61, 0x22], [0x22, 0xed, 0xa0, 0x80, 0x22]), ([0x22, 0xff, 0x22], [0x31]),
        ([0x22, 0x61, 0x22], [0x31, 0xc2]),
    ])
    func invalidUTF8IsRefused(name: [UInt8], value: [UInt8]) {
        let payload = Array("{".utf8) + name + Array(":".utf8) + value + Array("}".utf8)
        let input =
            Base64URL.encode(Array(#"{"alg":"ES256","typ":"at+jwt"}"#.utf8)) + "." + Base64URL.encode(payload)
        let token = input + "." + Base64URL.encode(key.sign(Array(input.utf8)))
        #expect(refusal(token, key: key.publicKey) == .invalidClaims)
    }

    @Test func formsThatAreNotThreeCanonicalSegmentsAreRefused() throws {
        let good = try JWTSigner(key: key).sign(claims: Claims())
        let parts = good.split(separator: ".").map(String.init)
        #expect(refusal(good, key: key.publicKey) == nil)
        for bad in [
            "", ".", "..", "...", "a.b", parts[0], parts[0] + "." + parts[1], good + ".", "." + good, good + ".x",
            good + "=", good + " ", " " + good, good + "\n", good + "\0", parts[0] + ".." + parts[2],
            parts[0] + "=." + parts[1] + "." + parts[2], "." + parts[1] + "." + parts[2],
            parts[0] + "." + parts[1] + "." + parts[2].dropLast(), "é" + good, "Bearer " + good,
            good.replacing("_", with: "/").replacing("-", with: "+") + "+",
        ] {
            let error = refusal(bad, key: key.publicKey)
            #expect(error == .malformed || error == .invalidClaims || error == .invalidSignature, "\(bad)")
        }
        #expect(refusal(parts[0] + "." + parts[1] + ".", key: key.publicKey) == .invalidSignature)
    }

    @Test func tokensOverTheLimitAreRefusedUnread() throws {
        let signer = try JWTSigner(key: key)
        func token(_ count: Int) -> String {
            signer.sign(encodedClaims: Array((#"{"a":""# + String(repeating: "a", count: count) + #""}"#).utf8))
        }
        var count = 12_000
        while token(count + 1).utf8.count <= JWT.longestToken { count += 1 }
        #expect(refusal(token(count), key: key.publicKey) == nil)
        #expect(refusal(token(count + 3), key: key.publicKey) == .tooLong)
        #expect(refusal(String(repeating: "a", count: 10_000_000), key: key.publicKey) == .tooLong)
    }

    @Test(arguments: SignatureAlgorithm.allCases) func noFlippedBitIsAccepted(algorithm: SignatureAlgorithm) throws {
        let key = SigningKey.generate(algorithm)
        let good = Array(try JWTSigner(key: key).sign(claims: Claims()).utf8)
        for index in good.indices {
            for bit in 0..<7 {
                var bad = good
                bad[index] ^= 1 << UInt8(bit)
                #expect(refusal(String(decoding: bad, as: UTF8.self), key: key.publicKey) != nil)
            }
            #expect(refusal(String(decoding: good[..<index], as: UTF8.self), key: key.publicKey) != nil)
        }
    }

    @Test func noisyTokensAreNeverAcceptedAndNeverCrash() throws {
        var random = Seeded(state: 0x5eed)
        let good = Array(try JWTSigner(key: key).sign(claims: Claims()).utf8)
        let alphabet = Array(#"ABCxyz019-_.={}[]":\, "#.utf8)
        for _ in 0..<3000 {
            var bad = good
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                let index = Int.random(in: bad.indices, using: &random)
                let byte = alphabet[Int.random(in: alphabet.indices, using: &random)]
                switch Int.random(in: 0..<3, using: &random) {
                case 0: bad[index] = byte
                case 1: bad.insert(byte, at: index)
                default: bad.remove(at: index)
                }
            }
            guard bad != good else { continue }
            #expect(refusal(String(decoding: bad, as: UTF8.self), key: key.publicKey) != nil)
        }
    }

    @Test func noisyHeadersNeverCrashTheReader() {
        var random = Seeded(state: 0xbad)
        let good = Array(#"{"alg":"ES256","typ":"at+jwt","kid":"a","z":[1,{"a":null}]}"#.utf8)
        for _ in 0..<3000 {
            var bad = good
            for _ in 0..<Int.random(in: 1...5, using: &random) {
                bad[Int.random(in: bad.indices, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            // Signed, so that nothing but the reader stands between the header and the verdict.
            let input = Base64URL.encode(bad) + "." + Base64URL.encode(Array("{}".utf8))
            let token = input + "." + Base64URL.encode(key.sign(Array(input.utf8)))
            if refusal(token, key: key.publicKey) == nil {
                #expect(String(decoding: bad, as: UTF8.self).contains("ES256"))
            }
        }
    }
}

/// SplitMix64: the same numbers from the same seed.
struct Seeded: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var z = state
        z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
        z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
        return z ^ (z >> 31)
    }
}
