/// What there is to say to a request before anything was awaited.
public enum Reply: Sendable {
    /// The answer. Nothing is spent on a task.
    case now(Response)
    /// The answer has to be awaited.
    case later(@Sendable () async -> Response)

    /// The answer, awaited where it has to be.
    public var response: Response {
        get async {
            switch self {
            case .now(let response): response
            case .later(let respond): await respond()
            }
        }
    }
}
