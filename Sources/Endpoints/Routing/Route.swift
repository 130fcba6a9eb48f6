internal import HTTP
internal import Sessions

/// A row of the table of routes. It is a class, so that a look-up copies nothing.
final class Route: Sendable {
    /// The handler with the authentication that the caller must pass before the handler runs. Handlers cannot omit it.
    enum Handler: Sendable {
        /// No authentication; the answer depends on no request and awaits nothing, so that no task is started.
        case immediate(@Sendable (Endpoints) throws -> Response)
        /// No authentication, or one that the handler itself demands.
        case open(@Sendable (Endpoints, Call) async throws -> Response)
        /// An access token of an active session.
        case user(@Sendable (Endpoints, Call, AuthenticatedSession) async throws -> Response)
        /// An access token of an active session, even if the session demands a proof of presence. The handler accepts that
        /// proof.
        case absentUser(@Sendable (Endpoints, Call, AuthenticatedSession) async throws -> Response)
        /// An admin key with this scope, or the admin socket.
        case admin(AdminKey.Scope, @Sendable (Endpoints, Call) async throws -> Response)
        /// An admin key with this scope, or the admin socket; the answer may wait or be a stream.
        case patient(AdminKey.Scope, @Sendable (Endpoints, Call) async throws -> StreamingAnswer)
    }

    /// The listeners that serve a route. Other listeners answer 404.
    enum Place: Sendable {
        case `public`
        case admin
        case both
    }

    /// The format of error answers.
    enum ErrorFormat: Sendable {
        /// RFC 9457.
        case problem
        /// RFC 6749 section 5.2.
        case oauth
    }

    /// The schemes that a 401 of this route offers (RFC 9110 section 11.6.1).
    enum Challenge: Sendable {
        case bearer
        case basic
        case bearerOrBasic
    }

    let method: Method
    /// The path. One segment can be `{name}`; a last segment `*` matches any suffix.
    let pattern: String
    let place: Place
    let errorFormat: ErrorFormat
    let challenge: Challenge
    let handler: Handler
    /// True if the conditions of a GET apply to the answer (RFC 9110 section 13). Forward authentication answers a decision,
    /// and its conditional fields belong to the original request.
    let isRepresentation: Bool
    /// True if the answer may wait or be a stream.
    let isPatient: Bool
    /// True if refusals count against the caller's address, because any caller can send tokens or client secrets to this route.
    let countsRefusals: Bool
    /// True if a proxy asks this route about another request.
    let isForwardAuthentication: Bool
    /// The name in metrics and in the log, such as `POST /oauth/token`.
    let name: String

    init(
        _ method: Method, _ pattern: String, on place: Place = .public, errorFormat: ErrorFormat = .problem,
        challenge: Challenge = .bearer, _ handler: Handler
    ) {
        self.method = method
        self.pattern = pattern
        self.place = place
        self.errorFormat = errorFormat
        self.challenge = challenge
        self.handler = handler
        isForwardAuthentication = pattern.hasPrefix("/v1/verify")
        if case .streaming = handler { isStreaming = true } else { isStreaming = false }
        isRepresentation = method == .get && !isForwardAuthentication && !isStreaming
        countsRefusals = place == .public && (errorFormat == .oauth || ["/v1/refresh", "/v1/logout"].contains(pattern))
        name = "\(method.rawValue) \(pattern)"
    }
}
