// HTTP: the messages of HTTP/1.1 and the strict parser of its requests.
//
// This module owns the wire format: RFC 9112 (syntax and framing), RFC 9110 (what the fields mean to framing), RFC 3986
// (targets and authorities) and application/x-www-form-urlencoded. It turns bytes into `Request` values and `Response`
// values into bytes. It does no I/O, knows no socket, no clock, no route and no token, and imports nothing at all.
//
// What is ambiguous is refused, never repaired: two parties that read the same bytes differently are how requests get
// smuggled. Whatever the input, the answer is one of the events of `RequestParser`, and it does not depend on how the
// bytes were cut into reads. Everything has a limit (`Limits`) and every refusal a name (`ProtocolError`).
//
// Reading order: Request, Fields, RequestParser, LineScanner, RequestLine, TargetParser, FieldLine, RequestHead,
// BodyFraming, ChunkedDecoder, then Response and ResponseSerializer, and ForwardedHops (what proxies say). Grammar has the
// character classes that all of them refer to.
