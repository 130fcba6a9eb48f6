internal import CCurl

/// Why a request has no answer.
public enum OutboundError: Error, Hashable, Sendable, CaseIterable {
    /// Too many requests wait already.
    case overloaded
    /// There was no whole answer within the deadline.
    case timedOut
    /// The name is unknown or nobody listens.
    case unreachable
    /// TLS came to nothing: the certificate is not one for that host, or nobody trustworthy signed it.
    case untrusted
    /// The answer is larger than it may be.
    case tooLarge
    /// What came is no HTTP, or ended too early.
    case malformed
    /// The library refused, which says nothing about the other side.
    case failed

    /// A word for logs and metrics.
    public var word: String {
        switch self {
        case .overloaded: "overloaded"
        case .timedOut: "timed_out"
        case .unreachable: "unreachable"
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
