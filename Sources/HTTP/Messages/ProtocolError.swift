/// The reason for which a request is refused. The connection must close after the response, because the start of the
/// next request is unknown.
///
/// The raw value is a stable code for logs and metrics. Neither it nor `sentence` contains anything that the peer sent.
public enum ProtocolError: String, Error, Hashable, Sendable, CaseIterable {
    // Lines (RFC 9112 §2.2)
    /// A CR without LF.
    case bareCarriageReturn = "bare_cr"
    /// A LF without CR.
    case bareLineFeed = "bare_lf"
    /// A NUL or another control character in the head, a chunk line or a trailer.
    case controlCharacter = "control_character"
    /// More empty lines before the request than allowed.
    case leadingEmptyLines = "leading_empty_lines"

    // Request line (RFC 9112 §3)
    /// Not `method SP request-target SP HTTP-version`.
    case malformedRequestLine = "malformed_request_line"
    /// The method is not a token.
    case malformedMethod = "malformed_method"
    /// The method is longer than any that exists.
    case methodTooLong = "method_too_long"
    /// The version is not `HTTP/` DIGIT `.` DIGIT.
    case malformedVersion = "malformed_version"
    /// A well-formed version that is not 1.x; the preface of HTTP/2 is one.
    case unsupportedVersion = "unsupported_version"
    /// The request line is longer than allowed.
    case requestLineTooLong = "request_line_too_long"
    /// The target does not follow RFC 3986.
    case malformedTarget = "malformed_target"
    /// The method does not allow a target of this form.
    case targetFormMismatch = "target_form_mismatch"
    /// An `https` target on a connection that is not secured.
    case misdirected
    /// `CONNECT`, because this server is no proxy.
    case connectUnsupported = "connect_unsupported"

    // Fields (RFC 9112 §5)
    /// A line without a colon, or with an empty name or one that is not a token.
    case malformedFieldName = "malformed_field_name"
    /// A line starts with a blank: obsolete line folding, or a blank before the first field.
    case foldedField = "folded_field"
    /// A blank between the name and the colon.
    case blankBeforeColon = "blank_before_colon"
    /// More field lines than allowed.
    case tooManyFields = "too_many_fields"
    /// The field lines are longer in total than allowed.
    case fieldsTooLarge = "fields_too_large"
    /// An HTTP/1.1 request without `Host`.
    case missingHost = "missing_host"
    /// More than one `Host`.
    case repeatedHost = "repeated_host"
    /// A `Host`, or an authority in the target, that is malformed.
    case malformedHost = "malformed_host"
    /// An expectation other than `100-continue`.
    case unknownExpectation = "unknown_expectation"

    // Framing (RFC 9112 §6 and §7)
    /// Both `Content-Length` and `Transfer-Encoding`.
    case conflictingFraming = "conflicting_framing"
    /// More than one `Content-Length`, on one line or several.
    case repeatedContentLength = "repeated_content_length"
    /// A `Content-Length` that is not a number, or that does not fit.
    case malformedContentLength = "malformed_content_length"
    /// `Transfer-Encoding` in a request of HTTP/1.0.
    case transferEncodingInHTTP10 = "transfer_encoding_in_http_1_0"
    /// A `Transfer-Encoding` that is not a list of codings with `chunked` once, at its end.
    case malformedTransferEncoding = "malformed_transfer_encoding"
    /// A transfer coding before `chunked`.
    case unknownTransferCoding = "unknown_transfer_coding"
    /// The content is longer than allowed.
    case bodyTooLarge = "body_too_large"
    /// A chunk size that is not hexadecimal, or has too many digits.
    case malformedChunkSize = "malformed_chunk_size"
    /// A chunk extension that does not follow the grammar.
    case malformedChunkExtension = "malformed_chunk_extension"
    /// Chunk extensions that are longer in total than allowed.
    case chunkExtensionsTooLong = "chunk_extensions_too_long"
    /// Chunk data that is not followed by CRLF.
    case malformedChunkEnd = "malformed_chunk_end"
}
