/// What there is to say to a request before anything was awaited.
///
/// Not copyable, so that the answer moves from hand to hand.
public enum Reply: ~Copyable, Sendable {
    /// The answer. Nothing is spent on a task.
    case now(Response)
    /// The answer has to be awaited.
    case later(@Sendable () async -> Response)

    /// The answer, awaited where it has to be.
    public consuming func response() async -> Response {
        switch consume self {
        case .now(let response): response
        case .later(let respond): await respond()
        }
    }
}
