import HTTP

/// A response of the server itself: an RFC 9457 problem made of constants. It repeats nothing of the request.
enum BuiltInResponse {
    /// The parser refused the request.
    case refused(ProtocolError)
    /// The client speaks HTTP in clear text on a listener with TLS.
    case plainText
    /// The client took too long to send the request.
    case requestTimeout
    /// The handler took too long.
    case handlerTimeout
    /// A limit is reached, such as connections, pending requests or memory.
    case overloaded(HTTPServer.Limit)

    /// The limit for which the server refuses at present; nil: a fault of the client.
    var limit: HTTPServer.Limit? {
        switch self {
        case .refused, .plainText, .requestTimeout: nil
        case .handlerTimeout: .requestTime
        case .overloaded(let limit): limit
        }
    }

    var response: Response {
        switch self {
        case .refused(let error): Self.problem(error.status, error.code, error.sentence)
        case .plainText:
            Self.problem(.badRequest, "tls_required", "TLS is spoken here: use a URL that begins with https.")
        case .requestTimeout:
            Self.problem(.requestTimeout, "request_timeout", "The request did not arrive in time.")
        case .handlerTimeout:
            Self.problem(.serviceUnavailable, "overloaded", "The server could not answer in time.")
        case .overloaded(.pendingRequests):
            Self.problem(
                .serviceUnavailable, "too_many_requests_pending", "The server is busy with too many requests.")
        case .overloaded(.streamingReplies), .overloaded(.reservedStreamingReplies):
            Self.problem(.serviceUnavailable, "too_many_subscribers", "Too many others wait for events here.")
        case .overloaded(.bufferedBytes):
            Self.problem(
                .serviceUnavailable, "out_of_buffers", "The server holds too many unfinished requests and answers.")
        case .overloaded:
            Self.problem(.serviceUnavailable, "too_many_connections", "The server has too many connections.")
        }
    }

    /// Builds the problem. All parts are constants of this program without quotes, so they need no escaping.
    private static func problem(_ status: Status, _ code: String, _ detail: String) -> Response {
        let body =
            #"{"type":"about:blank","title":"\#(status.reason)","status":\#(status.code),"code":"\#(code)","detail":"\#(detail)"}"#
        return Response(status, "application/problem+json", Array(body.utf8))
    }
}
