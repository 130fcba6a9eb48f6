import HTTP

extension RefusedInput {
    static let framing: [RefusedInput] =
        [
            ("9112 6.1 both", "Content-Length: 1\r\nTransfer-Encoding: chunked", .conflictingFraming),
            ("9112 6.1 both, the other way", "Transfer-Encoding: chunked\r\ncontent-length: 1", .conflictingFraming),
            ("9112 6.1 both, unknown coding", "Transfer-Encoding: x\r\nContent-Length: 1", .conflictingFraming),
            ("9112 6.3 different lengths", "Content-Length: 1\r\nContent-Length: 2", .repeatedContentLength),
            ("9112 6.3 equal lengths", "Content-Length: 1\r\ncontent-length: 1", .repeatedContentLength),
            ("9110 8.6 a list", "Content-Length: 1, 1", .repeatedContentLength),
            ("9110 8.6 plus", "Content-Length: +1", .malformedContentLength),
            ("9110 8.6 minus", "Content-Length: -1", .malformedContentLength),
            ("9110 8.6 empty", "Content-Length:", .malformedContentLength),
            ("9110 8.6 hexadecimal", "Content-Length: 0x1", .malformedContentLength),
            ("9110 8.6 a letter", "Content-Length: 1a", .malformedContentLength),
            ("9110 8.6 a fraction", "Content-Length: 1.0", .malformedContentLength),
            ("9110 8.6 a blank within", "Content-Length: 1 1", .malformedContentLength),
            ("9110 8.6 an underscore", "Content-Length: 1_0", .malformedContentLength),
            ("9110 8.6 2^63", "Content-Length: 9223372036854775808", .malformedContentLength),
            ("9110 8.6 2^64 + 1", "Content-Length: 18446744073709551617", .malformedContentLength),
            ("9110 8.6 thirty digits", "Content-Length: 111111111111111111111111111111", .malformedContentLength),
            ("9110 8.6 other digits", "Content-Length: \u{B2}", .malformedContentLength),
            ("9110 15.5.14 too large", "Content-Length: 65537", .bodyTooLarge),
            ("9110 15.5.14 far too large", "Content-Length: 9223372036854775807", .bodyTooLarge),
            ("9112 6.3 unknown, and not chunked", "Transfer-Encoding: x", .malformedTransferEncoding),
            ("9112 6.3 identity", "Transfer-Encoding: identity", .malformedTransferEncoding),
            ("9112 6.3 xchunked", "Transfer-Encoding: xchunked", .malformedTransferEncoding),
            ("9112 6.1 gzip first", "Transfer-Encoding: gzip, chunked", .unknownTransferCoding),
            ("9112 6.1 not last", "Transfer-Encoding: chunked, gzip", .malformedTransferEncoding),
            ("9112 6.1 twice", "Transfer-Encoding: chunked, chunked", .malformedTransferEncoding),
            (
                "9112 6.1 two lines", "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked",
                .malformedTransferEncoding
            ),
            ("9112 6.1 two lines", "Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked", .malformedTransferEncoding),
            ("9112 7 parameters", "Transfer-Encoding: chunked;q=1", .malformedTransferEncoding),
            ("9112 6.1 quotes", "Transfer-Encoding: \"chunked\"", .malformedTransferEncoding),
            ("9112 6.1 empty", "Transfer-Encoding:", .malformedTransferEncoding),
            ("9110 5.6.1 an empty member", "Transfer-Encoding: chunked,", .malformedTransferEncoding),
            ("9110 5.6.1 an empty member", "Transfer-Encoding: , chunked", .malformedTransferEncoding),
            ("9112 6.1 a blank within", "Transfer-Encoding: chun ked", .malformedTransferEncoding),
            ("9112 6.1 obs-text", "Transfer-Encoding: chunked\u{A0}", .malformedTransferEncoding),
            ("9112 6.1 vertical tab", "Transfer-Encoding: \u{0B}chunked", .controlCharacter),
        ].map { (clause: String, lines: String, error: ProtocolError) in
            RefusedInput(clause, "POST / HTTP/1.1\r\nHost: a\r\n\(lines)\r\n\r\n", error)
        } + [
            RefusedInput(
                "9112 6.1 HTTP/1.0", "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n",
                .transferEncodingInHTTP10)
        ]

    static let chunks: [RefusedInput] =
        [
            ("9112 7.1 no size", "\r\n", .malformedChunkSize),
            ("9112 7.1 plus", "+1\r\n", .malformedChunkSize),
            ("9112 7.1 minus", "-1\r\n", .malformedChunkSize),
            ("9112 7.1 0x", "0x1\r\n", .malformedChunkSize),
            ("9112 7.1 a letter", "1g\r\n", .malformedChunkSize),
            ("9112 7.1 a blank first", " 1\r\n", .malformedChunkSize),
            ("9112 7.1 a blank behind", "1 \r\n", .malformedChunkSize),
            ("9112 7.1 a tab behind", "1\t\r\n", .malformedChunkSize),
            ("9112 7.1 an underscore", "1_0\r\n", .malformedChunkSize),
            ("9112 7.1 2^64", "10000000000000000\r\n", .malformedChunkSize),
            ("9112 7.1 seventeen digits", "00000000000000001\r\n", .malformedChunkSize),
            ("9112 7.1 2^64 - 1", "FFFFFFFFFFFFFFFF\r\n", .bodyTooLarge),
            ("9112 7.1 2^63", "8000000000000000\r\n", .bodyTooLarge),
            ("9110 15.5.14 too large", "10001\r\n", .bodyTooLarge),
            ("9110 15.5.14 too large together", "1\r\na\r\n10000\r\n", .bodyTooLarge),
            ("9112 2.2 bare LF after the size", "1\na\r\n0\r\n\r\n", .bareLineFeed),
            ("9112 2.2 bare CR after the size", "1\ra\r\n0\r\n\r\n", .bareCarriageReturn),
            ("9112 2.2 bare CR in an extension", "1;a\rb\r\n", .bareCarriageReturn),
            ("9112 2.2 bare LF in an extension", "1;a\nb\r\n", .bareLineFeed),
            ("9112 7.1 bare LF after the data", "1\r\na\n0\r\n\r\n", .malformedChunkEnd),
            ("9112 7.1 bare CR after the data", "1\r\na\r0\r\n\r\n", .malformedChunkEnd),
            ("9112 7.1 more data than said", "1\r\nab\r\n0\r\n\r\n", .malformedChunkEnd),
            ("9112 7.1 a byte for the CR", "1\r\naX\n0\r\n\r\n", .malformedChunkEnd),
            ("9112 7.1 less data than said", "3\r\na\r\n0\r\n\r\n", .malformedChunkEnd),
            ("9112 2.2 bare LF after the last chunk", "0\n\r\n", .bareLineFeed),
            ("9112 2.2 bare LF at the end", "0\r\n\n", .bareLineFeed),
            ("9112 2.2 bare CR at the end", "0\r\n\rX", .bareCarriageReturn),
            ("9112 7.1.1 no name", "1;\r\n", .malformedChunkExtension),
            ("9112 7.1.1 no value", "1;a=\r\n", .malformedChunkExtension),
            ("9112 7.1.1 no name but a value", "1;=a\r\n", .malformedChunkExtension),
            ("9112 7.1.1 an open quote", "1;a=\"b\r\n", .malformedChunkExtension),
            ("9112 7.1.1 an open quote, escaped", "1;a=\"b\\\"\r\n", .malformedChunkExtension),
            ("9112 7.1.1 a backslash last", "1;a=\"b\\\r\n", .malformedChunkExtension),
            ("9112 7.1.1 behind a quote", "1;a=\"b\"c\r\n", .malformedChunkExtension),
            ("9112 7.1.1 a blank last", "1;a \r\n", .malformedChunkSize),
            ("9112 7.1.1 two words", "1;a b\r\n", .malformedChunkExtension),
            ("9112 7.1.1 a comma", "1,a\r\n", .malformedChunkSize),
            ("9112 7.1.1 NUL", "1;a\0\r\n", .controlCharacter),
            ("9112 7.1.1 too long", "1;\(String(repeating: "a", count: 1040))", .chunkExtensionsTooLong),
            ("9112 7.1.2 a trailer without colon", "0\r\nabc\r\n", .malformedFieldName),
            ("9112 7.1.2 a blank before the colon", "0\r\na : b\r\n", .blankBeforeColon),
            ("9112 7.1.2 a folded trailer", "0\r\na: b\r\n c\r\n", .foldedField),
            ("9112 7.1.2 a request for a trailer", "0\r\nGET / HTTP/1.1\r\n", .blankBeforeColon),
            ("9112 7.1.2 NUL in a trailer", "0\r\na: \0\r\n", .controlCharacter),
            ("9112 7.1.2 too many trailers", "0\r\n\(String(repeating: "a:\r\n", count: 17))", .tooManyFields),
            ("9112 7.1.2 trailers too large", "0\r\na:\(String(repeating: "b", count: 2048))", .fieldsTooLarge),
        ].map { (clause: String, body: String, error: ProtocolError) in
            RefusedInput(clause, "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n\(body)", error)
        }
}
