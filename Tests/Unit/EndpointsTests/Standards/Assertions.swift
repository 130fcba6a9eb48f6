import Cryptography
import FoundationEssentials
import JOSE
import Testing

@testable import Endpoints

/// A server with the client `signer`, which proves itself by assertions, and the key that it signs them with.
struct Assertions: Sendable {
    static let type = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
    static let claims =
        #""iss":"signer","sub":"signer","aud":"\#(EndpointsFixture.issuer)","exp":\#(EndpointsFixture.start + 60),"iat":\#(EndpointsFixture.start)"#

    let server: EndpointsFixture
    let key: SigningKey

    static func with(
        _ algorithm: SignatureAlgorithm = .es256, _ body: (Assertions) async throws -> Void
    ) async throws {
        try await EndpointsFixture.with { server in
            let key = SigningKey.generate(algorithm)
            let keys = String(
                decoding: try JSONEncoder().encode(JWKSet([JWK(publishing: key.publicKey)])), as: UTF8.self)
            let secret = try await server.makeClient(
                #"""
                {"client_id":"signer","token_endpoint_auth_method":"private_key_jwt","jwks":\#(keys),"scope":"read",
                 "grant_types":["client_credentials","refresh_token"]}
                """#)
            #expect(secret == nil)
            try await body(Assertions(server: server, key: key))
        }
    }

    /// An assertion with that header and those members of the payload, truly signed.
    func assertion(_ claims: String = claims, jti: String = "1", header: String? = nil) -> String {
        let header = header ?? #"{"alg":"\#(key.algorithm.rawValue)"}"#
        return signed(header, #"{\#(claims),"jti":"\#(jti)"}"#)
    }

    func signed(_ header: String, _ payload: String) -> String {
        let input = Base64URL.encode(Array(header.utf8)) + "." + Base64URL.encode(Array(payload.utf8))
        return input + "." + Base64URL.encode(key.sign(Array(input.utf8)))
    }

    /// Asks for a token with the assertion.
    func ask(_ assertion: String, type: String = type, more: String = "") async -> Answer {
        await server.form(
            "/oauth/token",
            "grant_type=client_credentials&client_assertion_type=\(type)&client_assertion=\(assertion)\(more)")
    }
}
