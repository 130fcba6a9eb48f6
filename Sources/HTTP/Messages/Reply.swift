/// What there is to say to a request before anything was awaited.
///
/// Not copyable, so that the answer moves from hand to hand.
public enum Reply: ~Copyable, Sendable {
    /// The answer. Nothing is spent on a task.
    case now(Response)
    /// The answer has to be awaited.
    case later(@Sendable () async -> Response)
    /// The answer waits for something to happen, or goes on for as long as somebody listens.
    case patient(StreamingReply)

    /// The answer, awaited where it has to be; of a stream what comes before its first piece.
    public consuming func response() async -> Response {
        switch consume self {
        case .now(let response): return response
        case .later(let respond): return await respond()
        case .patient(let reply): return await reply.respond().head
        }
    }
}
