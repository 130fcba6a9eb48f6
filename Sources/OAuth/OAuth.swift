// OAuth: the words of OAuth on the wire.
//
// Owns: the error codes (RFC 6749, 6750, 8693, 9449), the names of grants, the parameters of a token request, the
// shapes of the responses (token, error, introspection, server metadata) and the three schemes of the `Authorization`
// field (RFC 7617, RFC 6750, RFC 9449).
//
// Must not know: sessions, stores, routes, status codes. `Endpoints` decides what a word leads to.
//
// Reading order: ErrorCode, FormParameters, TokenRequest, TokenResponse, ErrorResponse, then
// IntrospectionResponse, ServerMetadata and Authorization.
