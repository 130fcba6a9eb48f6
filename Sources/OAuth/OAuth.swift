// OAuth: the words of OAuth on the wire, and nothing that decides.
//
// This module owns the error codes (RFC 6749, 6750, 8693, 9449), the names of grants, the parameters of a token request,
// the shapes of the answers (token, error, introspection, server metadata) and the three schemes of the `Authorization`
// field (RFC 7617, RFC 6750, RFC 9449). It knows no session, no store, no route and no status code: what a word leads to is for
// `Endpoints` to say.
//
// Reading order: ErrorCode, GrantType, FormParameters, TokenRequest, TokenResponse, ErrorResponse, then
// IntrospectionResponse, ServerMetadata, and Authorization.
