// HTTP: the messages of HTTP/1.1 and the strict parser of requests.
//
// Owns: the wire format. RFC 9112 (syntax and framing), RFC 9110 (the fields that affect framing), RFC 3986 (targets
// and authorities) and application/x-www-form-urlencoded. The module turns bytes into `Request` values and `Response`
// values into bytes.
//
// Must not know: I/O, sockets, clocks, routes, tokens. It imports only Calendar.
//
// The parser refuses ambiguous input and never repairs it, because two parties that read the same bytes differently
// make request smuggling possible. Every input leads to one of the events of `RequestParser`, and the events do not
// depend on how the bytes were split into reads. Every size has a limit (`Limits`), and every refusal has a name
// (`ProtocolError`).
//
// Reading order: Request, Fields, RequestParser, LineScanner, RequestLine, TargetParser, FieldLine, RequestHead,
// BodyFraming, ChunkedDecoder, then Response, ResponseSerializer and StreamingReply, then ForwardedHops (the fields
// that proxies add). Grammar has the character classes that all of them use.
