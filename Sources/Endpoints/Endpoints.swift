// Endpoints: maps HTTP to the domain. A `Request` goes in, and a `Response` comes out.
//
// This module owns the table of routes, the shapes of bodies, the authentication of callers, and the one mapping of the
// domain's errors to answers, in two formats: OAuth's JSON under /oauth, RFC 9457 problems everywhere else. It decides nothing
// about tokens and sessions (`Sessions` does), and knows neither sockets (`HTTPServer`) nor databases.
//
// Reading order: Routes, then the path of a refresh: TokenEndpoint, RefreshTokenGrant, TokenAnswer. RouteTable finds a route,
// Call is one request, Authentication identifies the caller, Members reads bodies, ErrorMapping answers errors. Each endpoint
// or small family of endpoints has one file; the calls of admins are in the folder Admin.

internal import Glibc
public import HTTP
public import Sessions
public import Telemetry

/// Answers all calls of the public and the admin listener.
public final class Endpoints: Sendable {
    let context: ServiceContext
    let tokens: TokenService
    let accounts: AccountService
    let administration: Administration
    let metrics: EndpointMetrics
    let doors: RateLimiter
    let revocations: RevocationFeed
    let registry: MetricsRegistry
    let logger: Logger
    let isStopping: @Sendable () -> Bool
    let backups: (any BackupService)?
    let identityVerifier: (any IdentityVerifier)?
    let scopes: Scope
    let stopwatch: @Sendable () -> Int64
    private let requestIDs: RequestIDMaker
    private let publicTable: RouteTable
    private let adminTable: RouteTable

    /// Creates the endpoints of the domain in `context`.
    ///
    /// - Parameters:
    ///   - metrics: receives the metrics of this module, and is the content of `GET /metrics`.
    ///   - doorLimits: the rate limits.
    ///   - backups: copies the database while the server runs; nil if this database has no such service.
    ///   - identityVerifier: verifies ID tokens of the configured identity providers; nil if there are none.
    ///   - scopes: the scopes that the server metadata lists; each client has its own.
    ///   - isStopping: returns true when the server is about to stop. `GET /readyz` then answers 503, so that no more requests
    ///     come.
    ///   - stopwatch: returns nanoseconds since a fixed moment, to measure the duration of requests.
    public init(
        context: ServiceContext, metrics registry: MetricsRegistry, logger: Logger,
        doorLimits: RateLimits = RateLimits(),
        backups: (any BackupService)? = nil, identityVerifier: (any IdentityVerifier)? = nil,
        scopes: Scope = .empty, isStopping: @escaping @Sendable () -> Bool = { false },
        stopwatch: @escaping @Sendable () -> Int64 = Endpoints.monotonicTime
    ) {
        self.context = context
        tokens = TokenService(context)
        accounts = AccountService(context)
        administration = Administration(context)
        let (start, instant) = (stopwatch(), ContinuousClock.now)
        revocations = RevocationFeed(
            source: context.store, clock: context.clock, now: { instant + .nanoseconds(stopwatch() - start) })
        self.registry = registry
        let routes = Route.all + Route.metadata(of: context.issuer)
        metrics = EndpointMetrics(registry, routes: routes)
        doors = RateLimiter(doorLimits, registry, stopwatch: stopwatch)
        self.logger = logger
        self.isStopping = isStopping
        self.backups = backups
        self.identityVerifier = identityVerifier
        self.scopes = scopes
        self.stopwatch = stopwatch
        requestIDs = RequestIDMaker(context.random)
        publicTable = RouteTable(routes, on: .public)
        adminTable = RouteTable(routes, on: .admin)
    }

    /// The browser uses https alone for one year (RFC 6797). The field must not be sent over http (section 7.2).
    private static let transportSecurity = "max-age=31536000"

    /// Returns nanoseconds since a fixed moment, from the monotonic clock.
    @Sendable public static func monotonicTime() -> Int64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }

    /// Answers one request. The answer is returned at once if the handler has nothing to await.
    public func reply(to request: Request, from caller: Caller) -> Reply {
        let id = RequestID(keptFrom: request.fields) ?? requestIDs.next()
        let table = caller.listener == .public ? publicTable : adminTable
        switch table.find(request) {
        case .fixed(var answer):
            finish(&answer, request, caller, id, nil, nil)
            return .now(answer)
        case .route(let route, let parameter):
            if case .immediate(let handle) = route.handler {
                var answer = immediateAnswer(request, caller, id, route, handle)
                finish(&answer, request, caller, id, route, nil)
                return .now(answer)
            }
            let start = stopwatch()
            let call = Call(request: request, caller: caller, requestID: id.text, route: route, parameter: parameter)
            if route.isPatient, Self.waits(request) {
                // The closure has no capture list, because one would queue it on the event loop twice more (Swift 6.3).
                return .patient(
                    StreamingReply(patience: Self.longestWait) { await self.patientAnswer(call, id, route, start) })
            }
            return .later { await self.answer(call, id, route, start) }
        }
    }

    private func answer(_ call: Call, _ id: RequestID, _ route: Route, _ start: Int64) async -> Response {
        var answer = await answer(call)
        appendNonce(to: &answer, call.request)
        finish(&answer, call.request, call.caller, id, route, start)
        return answer
    }

    private func streamingAnswer(_ call: Call, _ id: RequestID, _ route: Route, _ start: Int64) async -> StreamingAnswer
    {
        switch await streamingAnswer(call) {
        case .whole(var answer):
            finish(&answer, call.request, call.caller, id, route, start)
            return .whole(answer)
        case .stream(var stream):
            finish(&stream.head, call.request, call.caller, id, route, start)
            return .stream(stream)
        }
    }

    /// Appends the fields of every answer, and counts it. An immediate answer has no `start`, because measuring it would cost
    /// more than making it.
    private func finish(
        _ response: inout Response, _ request: Request, _ caller: Caller, _ id: RequestID, _ route: Route?,
        _ start: Int64?
    ) {
        if let route, route.isRepresentation { Preconditions.apply(request, to: &response) }
        id.append(to: &response.fields)
        response.fields.append(response.fields.contains("Cache-Control") ? Self.protection : Self.secrecy)
        if caller.isSecure { response.fields.append("Strict-Transport-Security", Self.transportSecurity) }
        let nanoseconds = start.map { stopwatch() - $0 }
        metrics.count(route, status: response.status, nanoseconds: nanoseconds)
        logger.debug(
            "request",
            [
                "request_id": .string(id.text), "method": .string(request.method.rawValue),
                "route": .string(route?.name ?? "none"),
                "status": .int(response.status.code), "seconds": .double(Double(nanoseconds ?? 0) * 1e-9),
                "remote_address": .string(caller.remoteAddress ?? "local"),
            ])
    }

    private static let protection: Fields = ["X-Content-Type-Options": "nosniff"]
    private static let secrecy: Fields = ["X-Content-Type-Options": "nosniff", "Cache-Control": "no-store"]

    private func immediateAnswer(
        _ request: Request, _ caller: Caller, _ id: RequestID, _ route: Route, _ handle: (Endpoints) throws -> Response
    ) -> Response {
        do { return try handle(self) } catch {
            return errorResponse(
                error, to: Call(request: request, caller: caller, requestID: id.text, route: route, parameter: ""))
        }
    }

    /// Runs the route's handler after the caller has proved what the route demands.
    private func answer(_ call: Call) async -> Response {
        do {
            if call.request.method == .put { try refusePart(call.request) }
            switch call.route.handler {
            case .immediate(let handle): return try handle(self)
            case .open(let handle): return try await handle(self, call)
            case .absentUser(let handle): return try await userAnswer(call, demandsPresence: false, handle)
            case .user(let handle): return try await userAnswer(call, demandsPresence: true, handle)
            case .admin(let scope, let handle): return try await adminAnswer(call, scope, handle)
            case .streaming: return await streamingAnswer(call).head
            }
        } catch {
            return errorResponse(doors.refusal(error, of: call), to: call)
        }
    }

    /// Refuses partial content in a PUT, because it would replace the whole (RFC 9110 section 14.5).
    private func refusePart(_ request: Request) throws {
        if request.fields.contains("Content-Range") {
            throw RequestProblem.invalid("Content-Range", "is not supported: send the whole")
        }
    }

    // These functions are not inlined, because inlining them would enlarge the frame of every refresh.

    @inline(never)
    private func userAnswer(
        _ call: Call, demandsPresence: Bool, _ handle: (Endpoints, Call, AuthenticatedSession) async throws -> Response
    ) async throws -> Response {
        let session = try await authenticatedSession(call, demandsPresence: demandsPresence)
        if demandsPresence { try Preconditions.check(call.request) }
        return try await handle(self, call, session)
    }

    @inline(never)
    private func adminAnswer(
        _ call: Call, _ scope: AdminKey.Scope, _ handle: (Endpoints, Call) async throws -> Response
    ) async throws -> Response {
        var call = call
        call.actor = try await authenticatedAdmin(call, for: scope)
        try Preconditions.check(call.request)
        return try await handle(self, call)
    }

    /// Runs the handler of a route with a streaming reply.
    @inline(never)
    private func streamingAnswer(_ call: Call) async -> StreamingAnswer {
        do {
            guard case .streaming(let scope, let handle) = call.route.handler else { return .whole(await answer(call)) }
            var call = call
            call.actor = try await authenticatedAdmin(call, for: scope)
            return try await handle(self, call)
        } catch {
            return .whole(errorResponse(doors.refusal(error, of: call), to: call))
        }
    }
}

/// The sender of a request, as far as the connection identifies it.
public struct Caller: Hashable, Sendable {
    /// The listener that received a request.
    public enum Listener: Hashable, Sendable {
        /// The public listener, for apps.
        case `public`
        /// The admin listener, for admins and Prometheus.
        case admin
        /// The Unix socket beside the database. It needs no admin key, because only the server's own user can open it.
        case adminSocket
    }

    /// The network address of the sender; nil for a Unix socket.
    public let remoteAddress: String?
    /// The listener that received the request.
    public let listener: Listener
    /// True if the request came over https, to this server or to a trusted proxy.
    public let isSecure: Bool
    /// True if the connection comes from a trusted proxy, so that its fields about the original request are believed.
    public let isProxy: Bool

    /// Creates a caller.
    public init(remoteAddress: String?, listener: Listener, isSecure: Bool = false, isProxy: Bool = false) {
        self.remoteAddress = remoteAddress
        self.listener = listener
        self.isSecure = isSecure
        self.isProxy = isProxy
    }
}
