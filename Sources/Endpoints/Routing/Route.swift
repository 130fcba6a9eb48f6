internal import HTTP
internal import Sessions

/// One row of the table of routes. A class, so that finding one copies nothing.
final class Route: Sendable {
    /// The handler, by the proof that the caller has to bring before it runs, so that no handler can omit the check.
    enum Handler: Sendable {
        /// No proof. The answer depends on no request and waits for nothing, so that no task is started for it.
        case immediate(@Sendable (Endpoints) throws -> Response)
        /// No proof, or one that the handler itself asks for.
        case open(@Sendable (Endpoints, Call) async throws -> Response)
        /// An access token of an active session that meets the demands: all of them, unless the row names fewer.
        case user(
            _ demands: UserDemands = .all, @Sendable (Endpoints, Call, AuthenticatedSession) async throws -> Response)
        /// An access token that meets all demands, or another proof of the owner of the account, which the handler asks for if
        /// it gets no session.
        case owner(@Sendable (Endpoints, Call, AuthenticatedSession?) async throws -> Response)
        /// An access token that a client got for itself, with one of these scopes.
        case client([String], @Sendable (Endpoints, Call, ClientToken) async throws -> Response)
        /// An admin key with this scope, or with the other one, or the admin socket.
        case admin(AdminKey.Scope, or: AdminKey.Scope? = nil, @Sendable (Endpoints, Call) async throws -> Response)
        /// An admin key with this scope, for an answer that may wait for an event.
        case streaming(AdminKey.Scope, @Sendable (Endpoints, Call) async throws -> StreamingAnswer)
        /// No proof, or one that the handler itself asks for, for an answer that may wait for an event.
        case openStreaming(@Sendable (Endpoints, Call) async throws -> StreamingAnswer)
    }

    /// What an access token of a user needs, beside an active session. A row that names fewer is an exception.
    struct UserDemands: OptionSet, Sendable {
        let rawValue: Int
        /// The scope `account`. Only calls about the session of the token itself do without.
        static let account = UserDemands(rawValue: 1)
        /// A proof of the user's presence, if the session requires one. Only calls that can bring the proof do without.
        static let presence = UserDemands(rawValue: 2)
        /// Every demand.
        static let all: UserDemands = [.account, .presence]
    }

    /// The listeners that serve a route. On the others its path is unknown.
    enum Listeners: Sendable {
        case `public`
        case admin
        case both
    }

    enum ErrorFormat: Sendable {
        /// RFC 9457.
        case problem
        /// RFC 6749 section 5.2.
        case oauth
        /// A page for people.
        case page
    }

    /// The schemes that a 401 of this route offers (RFC 9110 section 11.6.1).
    enum Challenge: Sendable {
        case bearer
        case basic
        case bearerOrBasic
    }

    let method: Method
    /// Segments, of which one can be `{name}`; a last segment `*` stands for any rest.
    let pattern: String
    let listeners: Listeners
    let errorFormat: ErrorFormat
    let challenge: Challenge
    let handler: Handler
    /// Whether conditions of a GET apply to its answer (RFC 9110 section 13). The answers of forward-auth are decisions, and
    /// the conditions there belong to another request.
    let isRepresentation: Bool
    /// Whether its answer may wait for an event.
    let isStreaming: Bool
    /// Whether its refusals count against the caller's address, because the route takes tokens or client secrets from any
    /// caller.
    let countsRefusals: Bool
    /// Whether a session that a phone has let in a short time ago may not do this: what would outlast the discovery of a fraud.
    let isBarredOnProbation: Bool
    /// The pages of other origins that may read its answers.
    let cors: CORS
    /// Whether the row, or its handler, says what `cors` is.
    let isCORSDecided: Bool
    /// Whether a proxy asks here about the request of another client.
    let isForwardAuthentication: Bool
    /// The actor of a call before the caller has proved anything.
    let unprovenActor: String
    /// The name in metrics and log: `POST /oauth/token`.
    let name: String
    private let makeOperation: @Sendable () -> Operation

    /// What the API document says of it, made anew, so that a start makes nothing of it.
    var operation: Operation { makeOperation() }

    /// - Parameters:
    ///   - mayWait: whether its answer may wait for an event, for a handler that can do without.
    ///   - onProbation: whether a session that a phone has let in a short time ago may do this.
    ///   - countsRefusals: whether refusals count against the address. Those of the public calls of OAuth do always.
    ///   - cors: the pages of other origins that may read its answers; nil: it follows from the handler.
    init(
        _ method: Method, _ pattern: String, on listeners: Listeners = .public, errorFormat: ErrorFormat = .problem,
        challenge: Challenge = .bearer, mayWait: Bool = false, onProbation: Bool = true, countsRefusals: Bool = false,
        isForwardAuthentication: Bool = false, cors: CORS? = nil, _ handler: Handler,
        _ operation: @autoclosure @escaping @Sendable () -> Operation
    ) {
        self.method = method
        self.pattern = pattern
        self.listeners = listeners
        self.errorFormat = errorFormat
        self.challenge = challenge
        self.handler = handler
        isBarredOnProbation = !onProbation
        self.isForwardAuthentication = isForwardAuthentication
        makeOperation = operation
        switch handler {
        case .streaming, .openStreaming: isStreaming = true
        case .immediate, .open, .user, .owner, .client, .admin: isStreaming = mayWait
        }
        switch handler {
        case .admin, .streaming, .client: unprovenActor = "unknown"
        case .immediate, .open, .user, .owner, .openStreaming: unprovenActor = Origin.userActor
        }
        isRepresentation = method == .get && !isForwardAuthentication && !isStreaming
        self.countsRefusals = countsRefusals || (listeners == .public && errorFormat == .oauth)
        let following = Self.cors(
            handler, errorFormat, on: listeners, isForwardAuthentication: isForwardAuthentication)
        let cors = cors ?? following
        isCORSDecided = cors != nil
        self.cors = cors ?? .noOrigin
        name = "\(method.rawValue) \(pattern)"
    }

    /// A row that is what another one is, at another path.
    convenience init(_ row: Route, at pattern: String) {
        self.init(
            row.method, pattern, on: row.listeners, errorFormat: row.errorFormat, challenge: row.challenge,
            mayWait: row.isStreaming, onProbation: !row.isBarredOnProbation, countsRefusals: row.countsRefusals,
            isForwardAuthentication: row.isForwardAuthentication, cors: row.isCORSDecided ? row.cors : nil, row.handler,
            row.operation)
    }
}
