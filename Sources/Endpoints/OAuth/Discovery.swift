internal import Cryptography
internal import HTTP
internal import JOSE
internal import OAuth
internal import Pages
internal import Sessions

/// The documents that verifiers and libraries read: the public keys and the server metadata.
extension Endpoints {
    static let tokenPath = "/oauth/token"
    static let revocationPath = "/oauth/revoke"
    static let introspectionPath = "/oauth/introspect"
    static let metadataPath = "/.well-known/oauth-authorization-server"
    /// The path of the metadata below the issuer (OpenID Connect Discovery section 4).
    public static let openIDMetadataPath = "/.well-known/openid-configuration"
    static let jwksPath = "/oauth/jwks"
    static let authorizationPath = "/oauth/authorize"
    static let pushedRequestPath = "/oauth/par"
    static let userInfoPath = "/oauth/userinfo"

    /// Caches may keep the documents for five minutes. A copy can even be far older, because a new key is published one day
    /// before it signs.
    private static let cacheControl = "public, max-age=300"

    /// `GET /oauth/jwks` (RFC 7517): answers the public keys of all nodes, without withdrawn ones.
    func jwks() async throws -> Response {
        await services.signer.lookForKeys()
        return try cacheable(context.signingKeys.publicKeys)
    }

    /// `GET /.well-known/oauth-authorization-server` (RFC 8414) and `/.well-known/openid-configuration`: answers the server
    /// metadata.
    func serverMetadata() throws -> Response {
        let confidential = [Client.AuthenticationMethod.clientSecretBasic, .clientSecretPost, .privateKeyJWT]
        let algorithms = Set(context.signingKeys.all.map(\.algorithm)).sorted()
        var metadata = ServerMetadata(
            issuer: context.issuer, tokenPath: Self.tokenPath, revocationPath: Self.revocationPath,
            introspectionPath: Self.introspectionPath, jwksPath: Self.jwksPath,
            authorizationPath: Self.authorizationPath, pushedRequestPath: Self.pushedRequestPath,
            deviceAuthorizationPath: Self.deviceAuthorizationPath,
            backchannelPath: Self.backchannelPath, userInfoPath: Self.userInfoPath,
            logoutPath: Self.logoutPath,
            grantTypes: Client.GrantType.allCases.filter { $0 != .login }.map(\.rawValue),
            authMethods: ([.none] + confidential).map(\.rawValue),
            confidentialAuthMethods: confidential.map(\.rawValue),
            assertionAlgorithms: ClientKeys.algorithms.map(\.rawValue),
            idTokenAlgorithms: algorithms,
            signingAlgorithms: algorithms.filter { $0 != SignatureAlgorithm.rs256.rawValue },
            proofAlgorithms: DPoPProof.algorithms.map(\.rawValue),
            acrValues: AuthenticationContext.allCases.map(\.rawValue), scopes: scopes.tokens)
        metadata.promptValuesSupported = AuthorizationRequest.Prompt.allCases.map(\.rawValue).filter {
            $0 != AuthorizationRequest.Prompt.create.rawValue || takesProofs(for: .signUp, of: nil, nil)
        }
        return try cacheable(metadata)
    }

    private func cacheable(_ value: some Encodable) throws -> Response { Self.cacheable(try JSONAnswer.encode(value)) }

    /// Answers JSON that caches may keep.
    static func cacheable(_ json: [UInt8]) -> Response {
        var response = Response(.ok, "application/json", json)
        response.fields.append("Cache-Control", cacheControl)
        // The tag is the hash of the content, so that it is equal on every node and a repeated request gets 304 (RFC 9110
        // section 8.8.3).
        response.fields.append("ETag", "\"\(Hex.encode(Array(sha256(response.body).prefix(16))))\"")
        return response
    }
}

extension Route {
    static let jwks = Route(
        .get, Endpoints.jwksPath, cors: .everyOrigin, .open { endpoints, _ in try await endpoints.jwks() },
        Operation(
            "jwks", .oauth, "The keys that verify access tokens",
            """
            RFC 7517. A new key is published a day before it signs. A verifier refuses tokens of a key that is \
            not published any more.
            """,
            answers: [.cacheable("JWKSet", "Public keys.")]))

    static let metadata = Route(
        .get, Endpoints.metadataPath, cors: .everyOrigin, .immediate { try $0.serverMetadata() },
        Operation(
            "metadata", .oauth, "The metadata of the server",
            """
            RFC 8414. If the issuer has a path, the same document is at this path followed by that of the issuer \
            (section 3.1).
            """,
            answers: [.cacheable("ServerMetadata", "The metadata of the server.")]))

    static let openidConfiguration = Route(
        .get, Endpoints.openIDMetadataPath, cors: .everyOrigin, .immediate { try $0.serverMetadata() },
        Operation(
            "openid_configuration", .oauth, "The metadata of the server",
            """
            The document of `oauth-authorization-server`, for libraries that look here. The server issues no ID \
            tokens.
            """,
            answers: [.cacheable("ServerMetadata", "The metadata of the server.")]))
}
