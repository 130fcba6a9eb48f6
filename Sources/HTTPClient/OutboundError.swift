internal import CCurl

/// The reason for which a request has no response.
public enum OutboundError: Error, Hashable, Sendable, CaseIterable {
    /// Too many requests wait already.
    case overloaded
    /// The response was not complete within the deadline.
    case timedOut
    /// The name does not resolve, or nothing listens at the address.
    case unreachable
    /// The name resolves to addresses to which this client does not connect (`HTTPClient.Destinations`).
    case forbidden
    /// TLS failed: the certificate does not match the host, or no trusted authority signed it.
    case untrusted
    /// The response is larger than allowed.
    case tooLarge
    /// The response is not HTTP, or ended too early.
    case malformed
    /// libcurl refused the request, independently of the other side.
    case failed

    /// A stable word for logs and metrics.
    public var word: String {
        switch self {
        case .overloaded: "overloaded"
        case .timedOut: "timed_out"
        case .unreachable: "unreachable"
        case .forbidden: "forbidden_address"
        case .untrusted: "untrusted"
        case .tooLarge: "too_large"
        case .malformed: "malformed"
        case .failed: "failed"
        }
    }

    init(_ code: CURLcode) {
        self =
            switch code {
            case CURLE_OPERATION_TIMEDOUT: .timedOut
            case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_CONNECT: .unreachable
            case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CONNECT_ERROR, CURLE_SSL_CERTPROBLEM, CURLE_SSL_CIPHER,
                CURLE_SSL_CACERT_BADFILE, CURLE_SSL_ISSUER_ERROR, CURLE_SSL_INVALIDCERTSTATUS:
                .untrusted
            case CURLE_FILESIZE_EXCEEDED: .tooLarge
            case CURLE_PARTIAL_FILE, CURLE_GOT_NOTHING, CURLE_RECV_ERROR, CURLE_SEND_ERROR, CURLE_WEIRD_SERVER_REPLY,
                CURLE_UNSUPPORTED_PROTOCOL, CURLE_BAD_CONTENT_ENCODING, CURLE_WRITE_ERROR, CURLE_HTTP2:
                .malformed
            default: .failed
            }
    }
}
