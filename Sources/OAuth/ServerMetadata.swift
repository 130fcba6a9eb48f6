/// The metadata of the server (RFC 8414 §2). It has the additional members that OpenID Connect Discovery requires, for
/// libraries that read `/.well-known/openid-configuration`.
public struct ServerMetadata: Codable, Hashable, Sendable {
    /// The `iss` of every token, which is the public base URL.
    public var issuer: String
    /// The token endpoint (RFC 6749 §3.2).
    public var tokenEndpoint: String
    /// The revocation endpoint (RFC 7009).
    public var revocationEndpoint: String
    /// The introspection endpoint (RFC 7662).
    public var introspectionEndpoint: String
    /// The URL of the key set (RFC 7517).
    public var jwksURI: String
    /// The grants of the token endpoint.
    public var grantTypesSupported: [String]
    /// The scopes that clients may request, if the operator lists them, because some clients need the list; nil omits
    /// the member.
    public var scopesSupported: [String]?
    /// The answers of the authorization endpoint.
    public var responseTypesSupported = ["code"]
    /// How answers return to the client.
    public var responseModesSupported = ["query"]
    /// The authorization endpoint (RFC 6749 §3.1).
    public var authorizationEndpoint: String
    /// The endpoint of pushed authorization requests (RFC 9126 §5).
    public var pushedAuthorizationRequestEndpoint: String
    /// The endpoint of devices that a phone, or a browser, lets in (RFC 8628 §4).
    public var deviceAuthorizationEndpoint: String
    /// The endpoint of backends that request a login of a user (OpenID Connect CIBA §4).
    public var backchannelAuthenticationEndpoint: String
    /// How backends hear of the result (OpenID Connect CIBA §4).
    public var backchannelTokenDeliveryModesSupported = ["poll", "ping"]
    /// The parameter `user_code` of the backchannel endpoint is not supported.
    public var backchannelUserCodeParameterSupported = false
    /// The userinfo endpoint (OpenID Connect Core section 5.3).
    public var userinfoEndpoint: String
    /// The logout endpoint (OpenID Connect RP-Initiated Logout section 2.1).
    public var endSessionEndpoint: String
    /// The methods of PKCE (RFC 7636).
    public var codeChallengeMethodsSupported = ["S256"]
    /// Every answer of the authorization endpoint has `iss` (RFC 9207 §3).
    public var authorizationResponseIssParameterSupported = true
    /// The values of `prompt` (OpenID Connect Core section 3.1.2.1).
    public var promptValuesSupported = ["none", "login", "consent", "select_account"]
    /// Clients can get logout tokens (OpenID Connect Back-Channel Logout section 2.1).
    public var backchannelLogoutSupported = true
    /// Logout tokens name the session.
    public var backchannelLogoutSessionSupported = true
    /// The claims of ID tokens and userinfo.
    public var claimsSupported = [
        "acr", "amr", "aud", "auth_time", "email", "email_verified", "exp", "family_name", "given_name", "groups",
        "iat", "iss",
        "name", "nonce", "phone_number", "preferred_username", "roles", "sid", "sub",
    ]
    /// Requests as objects (RFC 9101) are not supported.
    public var requestParameterSupported = false
    /// References to requests elsewhere are not supported. The default is true.
    public var requestURIParameterSupported = false
    /// The parameter `claims` is not supported.
    public var claimsParameterSupported = false
    /// The client authentication methods of the token endpoint.
    public var tokenEndpointAuthMethodsSupported: [String]
    /// The client authentication methods of the revocation endpoint.
    public var revocationEndpointAuthMethodsSupported: [String]
    /// The client authentication methods of the introspection endpoint.
    public var introspectionEndpointAuthMethodsSupported: [String]
    /// The algorithms of client assertions at the token endpoint.
    public var tokenEndpointAuthSigningAlgValuesSupported: [String]
    /// The algorithms of client assertions at the revocation endpoint.
    public var revocationEndpointAuthSigningAlgValuesSupported: [String]
    /// The algorithms of client assertions at the introspection endpoint.
    public var introspectionEndpointAuthSigningAlgValuesSupported: [String]
    /// Required by OpenID Connect Discovery.
    public var subjectTypesSupported = ["public"]
    /// Required by OpenID Connect Discovery: the algorithms of the published keys.
    public var idTokenSigningAlgValuesSupported: [String]
    /// The algorithms of DPoP proofs (RFC 9449 §5.1).
    public var dpopSigningAlgValuesSupported: [String]
    /// The authentication contexts by which users can prove their presence (RFC 9470 §7).
    public var acrValuesSupported: [String]

    /// The algorithms that sign introspection responses (RFC 9701 §7).
    public var introspectionSigningAlgValuesSupported: [String]

    /// Creates the metadata of the server at `issuer` with endpoints at these paths.
    public init(
        issuer: String, tokenPath: String, revocationPath: String, introspectionPath: String, jwksPath: String,
        authorizationPath: String, pushedRequestPath: String, deviceAuthorizationPath: String,
        backchannelPath: String, userInfoPath: String, logoutPath: String,
        grantTypes: [String], authMethods: [String], confidentialAuthMethods: [String], assertionAlgorithms: [String],
        idTokenAlgorithms: [String], signingAlgorithms: [String], proofAlgorithms: [String], acrValues: [String],
        scopes: [String] = []
    ) {
        // RFC 8414 §2: clients compare the issuer exactly, so a slash at its end stays.
        let base = issuer.hasSuffix("/") ? String(issuer.dropLast()) : issuer
        self.issuer = issuer
        tokenEndpoint = base + tokenPath
        revocationEndpoint = base + revocationPath
        introspectionEndpoint = base + introspectionPath
        jwksURI = base + jwksPath
        authorizationEndpoint = base + authorizationPath
        pushedAuthorizationRequestEndpoint = base + pushedRequestPath
        deviceAuthorizationEndpoint = base + deviceAuthorizationPath
        backchannelAuthenticationEndpoint = base + backchannelPath
        userinfoEndpoint = base + userInfoPath
        endSessionEndpoint = base + logoutPath
        grantTypesSupported = grantTypes
        // RFC 8414 §3.2: a member without values is omitted.
        scopesSupported = scopes.isEmpty ? nil : scopes
        tokenEndpointAuthMethodsSupported = authMethods
        revocationEndpointAuthMethodsSupported = authMethods
        introspectionEndpointAuthMethodsSupported = confidentialAuthMethods
        tokenEndpointAuthSigningAlgValuesSupported = assertionAlgorithms
        revocationEndpointAuthSigningAlgValuesSupported = assertionAlgorithms
        introspectionEndpointAuthSigningAlgValuesSupported = assertionAlgorithms
        idTokenSigningAlgValuesSupported = idTokenAlgorithms
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
        case responseModesSupported = "response_modes_supported"
        case authorizationEndpoint = "authorization_endpoint"
        case pushedAuthorizationRequestEndpoint = "pushed_authorization_request_endpoint"
        case deviceAuthorizationEndpoint = "device_authorization_endpoint"
        case backchannelAuthenticationEndpoint = "backchannel_authentication_endpoint"
        case backchannelTokenDeliveryModesSupported = "backchannel_token_delivery_modes_supported"
        case backchannelUserCodeParameterSupported = "backchannel_user_code_parameter_supported"
        case userinfoEndpoint = "userinfo_endpoint"
        case endSessionEndpoint = "end_session_endpoint"
        case codeChallengeMethodsSupported = "code_challenge_methods_supported"
        case authorizationResponseIssParameterSupported = "authorization_response_iss_parameter_supported"
        case promptValuesSupported = "prompt_values_supported"
        case backchannelLogoutSupported = "backchannel_logout_supported"
        case backchannelLogoutSessionSupported = "backchannel_logout_session_supported"
        case claimsSupported = "claims_supported"
        case requestParameterSupported = "request_parameter_supported"
        case requestURIParameterSupported = "request_uri_parameter_supported"
        case claimsParameterSupported = "claims_parameter_supported"
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
