/// What a handler returns for a request, before anything is awaited.
///
/// It is not copyable, so that each reply is answered once.
public enum Reply: ~Copyable, Sendable {
    /// A finished response. The server starts no task for it.
    case now(Response)
    /// A response that a task computes.
    case later(@Sendable () async -> Response)
    /// A response that waits for an event (long poll), or a stream.
    case streaming(StreamingReply)

    /// Returns the response and awaits it if necessary. Of a stream it returns the head, without the pieces.
    public consuming func response() async -> Response {
        switch consume self {
        case .now(let response): return response
        case .later(let respond): return await respond()
        case .streaming(let reply): return await reply.respond().head
        }
    }
}
