import Cryptography
import HTTP
import Testing

/// A proof that is not as RFC 9449 has it, or is in a way that must do no harm. `isGood` says which.
struct ProofRow: Sendable, CustomTestStringConvertible {
    let clause: String
    let name: String
    let isGood: Bool
    /// What is said of one that is not good.
    var error = "invalid_dpop_proof"
    let edit: @Sendable (inout ProofDraft) -> Void

    var testDescription: String { "\(clause): \(name)" }

    private static func bad(
        _ clause: String, _ name: String, _ edit: @escaping @Sendable (inout ProofDraft) -> Void
    ) -> ProofRow { ProofRow(clause: clause, name: name, isGood: false, edit: edit) }

    private static func good(
        _ clause: String, _ name: String, _ edit: @escaping @Sendable (inout ProofDraft) -> Void
    ) -> ProofRow { ProofRow(clause: clause, name: name, isGood: true, edit: edit) }

    /// Not good, as it was made by a wrong clock: with a nonce it would be.
    private static func strayed(
        _ clause: String, _ name: String, _ edit: @escaping @Sendable (inout ProofDraft) -> Void
    ) -> ProofRow { ProofRow(clause: clause, name: name, isGood: false, error: "use_dpop_nonce", edit: edit) }

    static let now = EndpointsFixture.start

    /// Section 4: what concerns every proof, wherever it is sent.
    static let all = form + keys + request + time

    private static let form = [
        good("4.2", "as it is") { _ in },
        bad("4.2", "typ is missing") { $0.header["typ"] = nil },
        bad("4.2", "typ is another one") { $0.header["typ"] = #""JWT""# },
        good("4.2", "typ is the whole media type") { $0.header["typ"] = #""application/dpop+jwt""# },
        bad("4.2", "alg is missing") { $0.header["alg"] = nil },
        bad("4.2", "jwk is missing") { $0.header["jwk"] = nil },
        bad("4.2", "jti is missing") { $0.claims["jti"] = nil },
        bad("4.2", "jti is empty") { $0.set("jti", "") },
        bad("4.2", "jti is a number") { $0.claims["jti"] = "7" },
        bad("4.2", "htm is missing") { $0.claims["htm"] = nil },
        bad("4.2", "htu is missing") { $0.claims["htu"] = nil },
        bad("4.2", "iat is missing") { $0.claims["iat"] = nil },
        bad("4.2", "iat is a string") { $0.set("iat", "\(now)") },
        bad("4.2", "iat is beyond all numbers") { $0.claims["iat"] = "1e300" },
        bad("4.2", "a claim stands twice") { $0.claims["htm\":\"GET\",\"htm"] = #""POST""# },
        good("4.2", "unknown members") {
            $0.header["extra"] = "1"
            $0.claims["extra"] = #"{"a":[1]}"#
        },
    ]

    private static let keys = [
        bad("4.3-5", "alg is none") {
            $0.header["alg"] = #""none""#
            $0.signature = []
        },
        bad("4.3-5", "alg is HS256") { $0.header["alg"] = #""HS256""# },
        bad("4.3-5", "alg is RS256") { $0.header["alg"] = #""RS256""# },
        bad("4.3-5", "alg is ES384") { $0.header["alg"] = #""ES384""# },
        bad("4.3-5", "alg is that of another key") { $0.header["alg"] = #""EdDSA""# },
        bad("4.3-6", "the signature is another key's") { $0.header["jwk"] = ProvingDevice().jwk },
        bad("4.3-6", "the signature is nothing") { $0.signature = [] },
        bad("4.3-6", "the signature is of zeros") { $0.signature = [UInt8](repeating: 0, count: 64) },
        bad("4.3-7", "jwk holds a private key") {
            $0.header["jwk"]?.replace("}", with: #","d":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"}"#)
        },
        bad("4.3-7", "jwk is symmetric") { $0.header["jwk"] = #"{"kty":"oct","k":"AAAA"}"# },
        bad("4.3-7", "jwk is not on its curve") { draft in
            let one = Base64URL.encode([UInt8](repeating: 1, count: 32))
            draft.header["jwk"] = #"{"kty":"EC","crv":"P-256","x":"\#(one)","y":"\#(one)"}"#
        },
        bad("4.3-7", "jwk is a string") { $0.header["jwk"] = #""key""# },
        bad("4.2", "the header points to a key elsewhere") { $0.header["jku"] = #""https://evil.example/jwks""# },
        bad("4.2", "the header demands an extension") { $0.header["crit"] = #"["exp"]"# },
    ]

    private static let request = [
        bad("4.3-8", "htm is another method") { $0.set("htm", "GET") },
        bad("4.3-8", "htm is in lower case") { $0.set("htm", "post") },
        bad("4.3-9", "htu is another path") { $0.set("htu", EndpointsFixture.issuer + "/oauth/revoke") },
        bad("4.3-9", "htu is another host") { $0.set("htu", "https://evil.example/oauth/token") },
        bad("4.3-9", "htu is another scheme") { $0.set("htu", "http://login.example/oauth/token") },
        bad("4.3-9", "htu is another port") { $0.set("htu", "https://login.example:8443/oauth/token") },
        bad("4.3-9", "htu is a path") { $0.set("htu", "/oauth/token") },
        bad("4.3-9", "htu is empty") { $0.set("htu", "") },
        bad("4.3-9", "htu names a user") { $0.set("htu", "https://login.example@evil.example/oauth/token") },
        good("4.3-9", "htu has a query and a fragment") {
            $0.set("htu", EndpointsFixture.issuer + "/oauth/token?a=b#c")
        },
        good("4.3-9", "scheme and host are in upper case") { $0.set("htu", "HTTPS://LOGIN.example/oauth/token") },
        good("4.3-9", "the default port is written") { $0.set("htu", "https://login.example:443/oauth/token") },
        good("4.3-9", "a letter of the path is escaped") { $0.set("htu", EndpointsFixture.issuer + "/oauth/%74oken") },
        bad("4.3-9", "the path is in upper case") { $0.set("htu", EndpointsFixture.issuer + "/OAuth/token") },
    ]

    private static let time = [
        good("4.3-11", "iat is ten seconds ahead") { $0.claims["iat"] = "\(now + 10)" },
        good("4.3-11", "iat is as far ahead as may be") { $0.claims["iat"] = "\(now + 15)" },
        strayed("4.3-11", "iat is further ahead") { $0.claims["iat"] = "\(now + 16)" },
        strayed("4.3-11", "iat is an hour ahead") { $0.claims["iat"] = "\(now + 3600)" },
        good("4.3-11", "iat is as long ago as may be") { $0.claims["iat"] = "\(now - 60)" },
        strayed("4.3-11", "iat is longer ago") { $0.claims["iat"] = "\(now - 61)" },
        strayed("4.3-11", "iat is an hour ago") { $0.claims["iat"] = "\(now - 3600)" },
        strayed("4.3-11", "iat is the smallest number") { $0.claims["iat"] = "-9223372036854775808" },
        good("4.3-11", "iat has a fraction") { $0.claims["iat"] = "\(now).75" },
        bad("RFC 7519 4.1.4", "exp has passed") { $0.claims["exp"] = "\(now - 20)" },
        good("RFC 7519 4.1.4", "exp is to come") { $0.claims["exp"] = "\(now + 20)" },
        bad("RFC 7519 4.1.5", "nbf is to come") { $0.claims["nbf"] = "\(now + 20)" },
        good("RFC 7519 4.1.5", "nbf has passed") { $0.claims["nbf"] = "\(now - 20)" },
    ]
}
