import Cryptography
import JOSE
import Testing

@testable import Sessions

/// Tokens that must open nothing, made from a good one (RFC 8725, RFC 7515, RFC 7518).
struct HostileTokens {
    /// What is wrong, and the token.
    private(set) var all: [(name: String, token: String)] = []

    private let header: String
    private let payload: String
    private let signature: [UInt8]
    private let signer: JWTSigner
    private let stranger = SigningKey.generate(.es256)
    private let claims: String

    init(_ server: EndpointsFixture, from good: String) async throws {
        let parts = good.split(separator: ".").map(String.init)
        (header, payload) = (parts[0], parts[1])
        signature = try #require(Base64URL.decode(parts[2]))
        signer = try #require(server.context.signingKeys.signer(at: Instant(secondsSinceEpoch: EndpointsFixture.start)))
        claims = String(decoding: try #require(Base64URL.decode(parts[1])), as: UTF8.self)
        addAlgorithms()
        addKeys()
        addSignatures()
        addForms(good)
        addClaims()
    }

    private mutating func add(_ name: String, _ token: String) { all.append((name, token)) }

    private static func encoded(_ text: String) -> String { Base64URL.encode(Array(text.utf8)) }

    /// A token with that header, the good claims, and what `sign` makes of both.
    private func token(_ header: String, _ claims: String? = nil, _ sign: ([UInt8]) -> [UInt8]) -> String {
        let input = Self.encoded(header) + "." + Self.encoded(claims ?? self.claims)
        return input + "." + Base64URL.encode(sign(Array(input.utf8)))
    }

    private func ours(_ header: String, _ claims: String? = nil) -> String { token(header, claims, signer.key.sign) }

    private func good(_ more: String = "") -> String {
        #"{"alg":"ES256","kid":"\#(signer.kid)","typ":"at+jwt"\#(more)}"#
    }

    private mutating func addAlgorithms() {
        for alg in ["none", "None", "nOnE", "NONE", ""] {
            let header = #"{"alg":"\#(alg)","kid":"\#(signer.kid)","typ":"at+jwt"}"#
            add("alg \(alg), no signature", token(header) { _ in [] })
            add("alg \(alg), truly signed", ours(header))
        }
        let jwk = JWK(publishing: signer.key.publicKey)
        guard case .p256(let x, let y) = signer.key.publicKey.coordinates else { return }
        let secrets: [(String, [UInt8])] = [
            ("the point", x + y), ("the uncompressed point", [4] + x + y), ("a zero", [0]),
            ("the thumbprint", Array(jwk.thumbprint.utf8)), ("the x of the JWK", Array(Base64URL.encode(x).utf8)),
        ]
        for (name, secret) in secrets {
            for alg in ["HS256", "ES256"] {
                add(
                    "\(alg): HMAC by \(name)",
                    token(#"{"alg":"\#(alg)","kid":"\#(signer.kid)","typ":"at+jwt"}"#) {
                        HMACSHA256Key(secret).authenticate($0)
                    })
            }
        }
        for alg in ["RS256", "PS256", "ES384", "ES256K", "EdDSA", "HS512", "dir", "es256"] {
            add("alg \(alg)", ours(#"{"alg":"\#(alg)","kid":"\#(signer.kid)","typ":"at+jwt"}"#))
        }
    }

    private mutating func addKeys() {
        let kids = [
            "../../../../../../dev/null", "/dev/null", "' OR '1'='1", "x' UNION SELECT 'key' --", "unknown",
            "https://evil.example/key", "", "\\u0000", "*", "%00",
        ]
        for kid in kids {
            add("kid \(kid)", ours(#"{"alg":"ES256","kid":"\#(kid)","typ":"at+jwt"}"#))
            add("kid \(kid), no key", token(#"{"alg":"ES256","kid":"\#(kid)","typ":"at+jwt"}"#) { _ in [] })
        }
        add("no kid", ours(#"{"alg":"ES256","typ":"at+jwt"}"#))
        for kid in ["7", "null", "[]", #"["\#(signer.kid)"]"#] {
            add("kid \(kid)", ours(#"{"alg":"ES256","kid":\#(kid),"typ":"at+jwt"}"#))
        }
        guard case .p256(let x, let y) = stranger.publicKey.coordinates else { return }
        let jwk = #"{"kty":"EC","crv":"P-256","x":"\#(Base64URL.encode(x))","y":"\#(Base64URL.encode(y))"}"#
        let others = [
            ("a stranger's key", ""), ("jwk", #","jwk":\#(jwk)"#), ("jku", #","jku":"https://evil.example/jwks""#),
            ("x5u", #","x5u":"https://evil.example/x""#), ("x5c", #","x5c":["AA=="]"#),
            ("crit", #","crit":["exp"],"exp":1"#), ("b64", #","b64":false,"crit":["b64"]"#),
        ]
        for (name, more) in others {
            add("\(name), signed by a stranger", token(good(more), nil, stranger.sign))
            if !more.isEmpty { add("\(name), truly signed", ours(good(more))) }
        }
        add("a huge header", ours(good(#","x":"\#(String(repeating: "h", count: 20_000))""#)))
        add(
            "a deep header",
            ours(good(#","x":"# + String(repeating: "[", count: 500) + String(repeating: "]", count: 500))))
        for (name, header) in [
            ("alg twice", #"{"alg":"none","alg":"ES256","kid":"\#(signer.kid)","typ":"at+jwt"}"#),
            ("kid twice", #"{"alg":"ES256","kid":"x","kid":"\#(signer.kid)","typ":"at+jwt"}"#),
            ("another type", #"{"alg":"ES256","kid":"\#(signer.kid)","typ":"JWT"}"#),
            ("the type of a proof", #"{"alg":"ES256","kid":"\#(signer.kid)","typ":"dpop+jwt"}"#),
            ("no type", #"{"alg":"ES256","kid":"\#(signer.kid)"}"#),
            ("nested", #"{"alg":"ES256","kid":"\#(signer.kid)","typ":"at+jwt","cty":"JWT"}"#),
        ] {
            // What a nested token holds is a token, and no claims.
            add(name, name == "nested" ? ours(header, "\(self.header).\(payload).x") : ours(header))
        }
    }

    /// The order of the curve's group (SEC 2, section 2.4.2).
    private static let order: [UInt8] = [
        0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xBC, 0xE6, 0xFA, 0xAD,
        0xA7,
        0x17, 0x9E, 0x84, 0xF3, 0xB9, 0xCA, 0xC2, 0xFC, 0x63, 0x25, 0x51,
    ]

    private mutating func addSignatures() {
        let zero = [UInt8](repeating: 0, count: 32)
        let one = [UInt8](repeating: 0, count: 31) + [1]
        var beyond = Self.order
        beyond[31] += 1
        let ones = [UInt8](repeating: 0xFF, count: 32)
        let (r, s) = (Array(signature[..<32]), Array(signature[32...]))
        let numbers: [(String, [UInt8])] = [
            ("0", zero), ("1", one), ("n", Self.order), ("n + 1", beyond), ("2^256 - 1", ones),
        ]
        for (name, number) in numbers {
            add("r = \(name)", "\(header).\(payload)." + Base64URL.encode(number + s))
            add("s = \(name)", "\(header).\(payload)." + Base64URL.encode(r + number))
            add("r = s = \(name)", "\(header).\(payload)." + Base64URL.encode(number + number))
        }
        let der: [UInt8] = [0x30, 0x44, 0x02, 0x20] + r + [0x02, 0x20] + s
        for (name, bytes) in [
            ("DER", der), ("63 bytes", Array(signature.dropLast())), ("65 bytes", signature + [0]),
            ("a zero before", [0] + signature), ("swapped", s + r), ("twice", signature + signature), ("empty", []),
        ] {
            add("signature: \(name)", "\(header).\(payload)." + Base64URL.encode(bytes))
        }
        var flipped = signature
        flipped[63] ^= 1
        add("signature: one bit", "\(header).\(payload)." + Base64URL.encode(flipped))
    }

    private mutating func addForms(_ good: String) {
        let text = Base64URL.encode(signature)
        // 64 bytes are 86 characters, of which the last one holds two bits that count.
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")
        if let last = text.last, let index = alphabet.firstIndex(of: last) {
            add("bits that no byte has", "\(header).\(payload)." + text.dropLast() + String(alphabet[index ^ 1]))
        }
        for (name, token) in [
            ("padding", good + "=="), ("two segments", "\(header).\(payload)"), ("four segments", good + ".x"),
            ("five segments", good + "..x"), ("an empty header", ".\(payload).\(text)"),
            ("an empty payload", "\(header)..\(text)"), ("dots alone", ".."), ("a blank at the end", good + " "),
            ("a tab before", "\t" + good), ("a blank inside", "\(header). \(payload).\(text)"),
            ("a line end", good + "\n"), ("a tab", "\(header)\t.\(payload).\(text)"), ("a NUL", good + "\u{0}"),
            ("a NUL inside", "\(header).\(payload)\u{0}.\(text)"),
            ("standard base64", good.replacing("-", with: "+") + "+"),
            ("two tokens", good + "," + good), ("quotes", "\"\(good)\""), ("JSON", #"{"payload":"\#(payload)"}"#),
            ("an escape", good.replacing(".", with: "%2E")), ("nothing but letters", "AAAA.AAAA.AAAA"),
            ("a letter that is none", good.dropLast() + "é"),
        ] {
            add(name, String(token))
        }
    }

    private mutating func addClaims() {
        let open = claims.dropLast()
        for (name, text) in [
            ("sub twice", open + #","sub":"x"}"#), ("exp twice", open + #","exp":9999999999}"#),
            ("sid twice, escaped", open + #","s\u0069d":"x"}"#), ("no claims", "{}"), ("null", "null"),
            ("an array", "[\(claims)]"), ("a string", "\"x\""), ("not JSON", "x"), ("more behind", claims + "{}"),
            ("a comment", "/**/" + claims), ("no UTF-8 ends it", open + ",}"),
        ] {
            add("claims: \(name)", ours(good(), String(text)))
        }
    }
}
