/// The error codes of OAuth. The raw values are on the wire.
public enum ErrorCode: String, CaseIterable, Sendable {
    // RFC 6749 §5.2

    /// A parameter is missing, repeated, unknown in value, or the request is malformed in another way.
    case invalidRequest = "invalid_request"
    /// The client is unknown, or failed to authenticate.
    case invalidClient = "invalid_client"
    /// The grant is invalid, expired, revoked, replayed, or was issued to another client.
    case invalidGrant = "invalid_grant"
    /// The client may not use this grant.
    case unauthorizedClient = "unauthorized_client"
    /// The server does not support this grant.
    case unsupportedGrantType = "unsupported_grant_type"
    /// The scope is malformed, unknown, or exceeds what was granted.
    case invalidScope = "invalid_scope"

    // RFC 6749 §4.1.2.1, in use at the token endpoint as well

    /// An unexpected failure.
    case serverError = "server_error"
    /// The server is temporarily unable to answer.
    case temporarilyUnavailable = "temporarily_unavailable"

    /// The server does not answer with this `response_type`.
    case unsupportedResponseType = "unsupported_response_type"
    /// The user or the server has refused the request.
    case accessDenied = "access_denied"

    // OpenID Connect Core section 3.1.2.6

    /// The user has to log in, and the request allows no page.
    case loginRequired = "login_required"
    /// The user cannot log in in the way that the request demands (OpenID Connect Core Error Code
    /// unmet_authentication_requirements 1.0).
    case unmetAuthenticationRequirements = "unmet_authentication_requirements"
    /// Requests as objects are not supported.
    case requestNotSupported = "request_not_supported"
    /// References to requests elsewhere are not supported.
    case requestURINotSupported = "request_uri_not_supported"
    /// The pushed request has expired, or was answered already (RFC 9126, RFC 9101 section 6.2).
    case invalidRequestURI = "invalid_request_uri"
    /// Clients register with the admin only.
    case registrationNotSupported = "registration_not_supported"

    // RFC 6750 §3.1

    /// The access token is expired, revoked, malformed or otherwise invalid.
    case invalidToken = "invalid_token"
    /// The access token has not the required scope.
    case insufficientScope = "insufficient_scope"

    // RFC 8693 §2.2.2

    /// The audience or resource is unknown, or not allowed.
    case invalidTarget = "invalid_target"

    // RFC 8628 §3.5

    /// The user has not acted yet.
    case authorizationPending = "authorization_pending"
    /// The login of the device was not approved in time, or is over.
    case expiredToken = "expired_token"

    /// The client asks more often than it may.
    case slowDown = "slow_down"

    // OpenID Connect CIBA §13

    /// No user has the id or the name of the hint.
    case unknownUserID = "unknown_user_id"
    /// The binding message is too long, or a phone cannot show it.
    case invalidBindingMessage = "invalid_binding_message"

    // RFC 9470 §3

    /// The user has to authenticate again, or in another way.
    case insufficientUserAuthentication = "insufficient_user_authentication"

    // RFC 9449 sections 5 and 8

    /// The proof of possession is invalid.
    case invalidDPoPProof = "invalid_dpop_proof"
    /// The proof must contain the nonce of this response.
    case useDPoPNonce = "use_dpop_nonce"
}
