// The response to a request that is refused.
extension ProtocolError {
    /// A stable code for logs, metrics and problem documents.
    public var code: String { rawValue }

    /// The status of the response.
    public var status: Status {
        switch self {
        case .methodTooLong, .connectUnsupported, .unknownTransferCoding: .notImplemented
        case .unsupportedVersion: .httpVersionNotSupported
        case .requestLineTooLong: .uriTooLong
        case .tooManyFields, .fieldsTooLarge: .requestHeaderFieldsTooLarge
        case .unknownExpectation: .expectationFailed
        case .bodyTooLarge: .contentTooLarge
        case .misdirected: .misdirectedRequest
        default: .badRequest
        }
    }

    /// One sentence for people. It is a constant.
    public var sentence: String {
        switch self {
        case .bareCarriageReturn: "A carriage return is not followed by a line feed."
        case .bareLineFeed: "A line feed is not preceded by a carriage return."
        case .controlCharacter: "The request has a control character where none may be."
        case .leadingEmptyLines: "Too many empty lines come before the request."
        case .malformedRequestLine: "The request line is not a method, a target and a version with one space between."
        case .malformedMethod: "The method is not a token."
        case .methodTooLong: "The method is longer than any that exists."
        case .malformedVersion: "The version is not HTTP/ followed by two digits with a dot between."
        case .unsupportedVersion: "Only HTTP/1.1 and HTTP/1.0 are spoken here."
        case .requestLineTooLong: "The request line is too long."
        case .malformedTarget: "The request target is not well-formed."
        case .targetFormMismatch: "The form of the request target does not go with the method."
        case .misdirected: "The target demands a secured connection."
        case .connectUnsupported: "This server is no proxy."
        case .malformedFieldName: "A field line has no well-formed name."
        case .foldedField: "A field line starts with a blank."
        case .blankBeforeColon: "A blank stands before the colon of a field line."
        case .tooManyFields: "The request has too many fields."
        case .fieldsTooLarge: "The fields of the request are too large."
        case .missingHost: "The request has no Host field."
        case .repeatedHost: "The request has more than one Host field."
        case .malformedHost: "The host of the request is not well-formed."
        case .unknownExpectation: "The only expectation that can be met is 100-continue."
        case .conflictingFraming: "Content-Length and Transfer-Encoding exclude each other."
        case .repeatedContentLength: "The request has more than one Content-Length."
        case .malformedContentLength: "The Content-Length is not a number that fits."
        case .transferEncodingInHTTP10: "HTTP/1.0 has no Transfer-Encoding."
        case .malformedTransferEncoding: "The Transfer-Encoding does not end with one chunked coding."
        case .unknownTransferCoding: "The only transfer coding that is known is chunked."
        case .bodyTooLarge: "The content of the request is too large."
        case .malformedChunkSize: "A chunk size is not a hexadecimal number that fits."
        case .malformedChunkExtension: "A chunk extension is not well-formed."
        case .chunkExtensionsTooLong: "The chunk extensions are too long."
        case .malformedChunkEnd: "The data of a chunk is not followed by a line end."
        }
    }
}
