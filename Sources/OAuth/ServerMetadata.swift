/// What clients need to know of the server (RFC 8414 section 2). The members that OpenID Connect Discovery demands beside
/// it are there for libraries that look under `/.well-known/openid-configuration`; no ID tokens are issued.
public struct ServerMetadata: Codable, Hashable, Sendable {
    /// The `iss` of every token: the public base URL.
    public var issuer: String
    /// RFC 6749 section 3.2.
    public var tokenEndpoint: String
    /// RFC 7009.
    public var revocationEndpoint: String
    /// RFC 7662.
    public var introspectionEndpoint: String
    /// RFC 7517.
    public var jwksURI: String
    /// The grants of the token endpoint.
    public var grantTypesSupported: [String]
    /// What clients may ask for, where the operator names it: some clients do nothing without. Nil: no word about it.
    public var scopesSupported: [String]?
    /// None: there is no authorization endpoint. The member itself is required.
    public var responseTypesSupported: [String] = []
    /// How clients authenticate at the token endpoint.
    public var tokenEndpointAuthMethodsSupported: [String]
    /// How clients authenticate at the revocation endpoint.
    public var revocationEndpointAuthMethodsSupported: [String]
    /// How clients authenticate at the introspection endpoint.
    public var introspectionEndpointAuthMethodsSupported: [String]
    /// The algorithms of assertions, for each of the three endpoints.
    public var tokenEndpointAuthSigningAlgValuesSupported: [String]
    /// See above.
    public var revocationEndpointAuthSigningAlgValuesSupported: [String]
    /// See above.
    public var introspectionEndpointAuthSigningAlgValuesSupported: [String]
    /// Demanded by OpenID Connect Discovery.
    public var subjectTypesSupported = ["public"]
    /// Demanded by OpenID Connect Discovery: the algorithms of the published keys.
    public var idTokenSigningAlgValuesSupported: [String]
    /// What may sign proofs of possession (RFC 9449 section 5.1).
    public var dpopSigningAlgValuesSupported: [String]
    /// How users can show to be there (RFC 9470 section 7).
    public var acrValuesSupported: [String]

    /// What signs introspections (RFC 9701 section 7).
    public var introspectionSigningAlgValuesSupported: [String]

    /// The metadata of the server at `issuer`, whose endpoints are at those paths.
    public init(
        issuer: String, tokenPath: String, revocationPath: String, introspectionPath: String, jwksPath: String,
        grantTypes: [String], authMethods: [String], confidentialAuthMethods: [String], assertionAlgorithms: [String],
        signingAlgorithms: [String], proofAlgorithms: [String], acrValues: [String], scopes: [String] = []
    ) {
        // RFC 8414 section 2: the issuer is compared as it stands, so the slash that it may end in stays there.
        let base = issuer.hasSuffix("/") ? String(issuer.dropLast()) : issuer
        self.issuer = issuer
        tokenEndpoint = base + tokenPath
        revocationEndpoint = base + revocationPath
        introspectionEndpoint = base + introspectionPath
        jwksURI = base + jwksPath
        grantTypesSupported = grantTypes
        // Section 3.2: a claim without values is left out.
        scopesSupported = scopes.isEmpty ? nil : scopes
        tokenEndpointAuthMethodsSupported = authMethods
        revocationEndpointAuthMethodsSupported = authMethods
        introspectionEndpointAuthMethodsSupported = confidentialAuthMethods
        tokenEndpointAuthSigningAlgValuesSupported = assertionAlgorithms
        revocationEndpointAuthSigningAlgValuesSupported = assertionAlgorithms
        introspectionEndpointAuthSigningAlgValuesSupported = assertionAlgorithms
        idTokenSigningAlgValuesSupported = signingAlgorithms
        introspectionSigningAlgValuesSupported = signingAlgorithms
        dpopSigningAlgValuesSupported = proofAlgorithms
        acrValuesSupported = acrValues
    }

    enum CodingKeys: String, CodingKey {
        case issuer
        case tokenEndpoint = "token_endpoint"
        case revocationEndpoint = "revocation_endpoint"
        case introspectionEndpoint = "introspection_endpoint"
        case jwksURI = "jwks_uri"
        case grantTypesSupported = "grant_types_supported"
        case scopesSupported = "scopes_supported"
        case responseTypesSupported = "response_types_supported"
        case tokenEndpointAuthMethodsSupported = "token_endpoint_auth_methods_supported"
        case revocationEndpointAuthMethodsSupported = "revocation_endpoint_auth_methods_supported"
        case introspectionEndpointAuthMethodsSupported = "introspection_endpoint_auth_methods_supported"
        case tokenEndpointAuthSigningAlgValuesSupported = "token_endpoint_auth_signing_alg_values_supported"
        case revocationEndpointAuthSigningAlgValuesSupported = "revocation_endpoint_auth_signing_alg_values_supported"
        case introspectionEndpointAuthSigningAlgValuesSupported =
            "introspection_endpoint_auth_signing_alg_values_supported"
        case subjectTypesSupported = "subject_types_supported"
        case idTokenSigningAlgValuesSupported = "id_token_signing_alg_values_supported"
        case introspectionSigningAlgValuesSupported = "introspection_signing_alg_values_supported"
        case dpopSigningAlgValuesSupported = "dpop_signing_alg_values_supported"
        case acrValuesSupported = "acr_values_supported"
    }
}
