internal import Cryptography
internal import HTTP
internal import JOSE
internal import OAuth
internal import Sessions

/// What verifiers and libraries read: keys and metadata.
extension Endpoints {
    static let tokenPath = "/oauth/token"
    static let revocationPath = "/oauth/revoke"
    static let introspectionPath = "/oauth/introspect"
    static let metadataPath = "/.well-known/oauth-authorization-server"
    static let jwksPath = "/oauth/jwks"

    /// Five minutes: a new key is published a day before it signs, so that even a far older copy holds it.
    private static let cacheControl = "public, max-age=300"

    /// `GET /oauth/jwks` (RFC 7517): with the keys that other nodes have made, and without those that they have withdrawn.
    func jwks() async throws -> Response {
        await tokens.lookForKeys()
        return try cacheable(context.signingKeys.publicKeys)
    }

    /// `GET /.well-known/oauth-authorization-server` (RFC 8414) and `/.well-known/openid-configuration`.
    func serverMetadata() throws -> Response {
        let confidential = [Client.AuthenticationMethod.clientSecretBasic, .clientSecretPost, .privateKeyJWT]
        return try cacheable(
            ServerMetadata(
                issuer: context.issuer, tokenPath: Self.tokenPath, revocationPath: Self.revocationPath,
                introspectionPath: Self.introspectionPath, jwksPath: Self.jwksPath,
                grantTypes: OAuth.GrantType.allCases.map(\.rawValue),
                authMethods: ([.none] + confidential).map(\.rawValue),
                confidentialAuthMethods: confidential.map(\.rawValue),
                assertionAlgorithms: ClientKeys.algorithms.map(\.rawValue),
                signingAlgorithms: Set(context.signingKeys.all.map(\.algorithm)).sorted(),
                proofAlgorithms: DPoPProof.algorithms.map(\.rawValue),
                acrValues: PresenceRequirement.Way.allCases.map(\.rawValue), scopes: scopes.tokens))
    }

    private func cacheable(_ value: some Encodable) throws -> Response { Self.cacheable(try JSONAnswer.encode(value)) }

    /// JSON that changes seldom.
    static func cacheable(_ json: [UInt8]) -> Response {
        var response = Response(.ok, "application/json", json)
        response.fields.append("Cache-Control", cacheControl)
        // Equal bytes, equal tag, on every node: whoever polls the keys is told 304 (RFC 9110 section 8.8.3).
        response.fields.append("ETag", "\"\(Hex.encode(Array(sha256(response.body).prefix(16))))\"")
        return response
    }
}

extension Route {
    /// Where clients look for the metadata of an issuer whose URL has a path (RFC 8414 section 3.1): that path stands behind the
    /// well-known one, and no proxy takes it off there as it does from all other calls.
    static func metadata(of issuer: String) -> [Route] {
        let authority = issuer.firstRange(of: "://").map { issuer[$0.upperBound...] } ?? issuer[...]
        let path = authority.drop { $0 != "/" }
        let known = path.last == "/" ? path.dropLast() : path
        return known.isEmpty
            ? [] : [Route(.get, Endpoints.metadataPath + known, .immediate { try $0.serverMetadata() })]
    }
}
