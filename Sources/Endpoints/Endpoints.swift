// Endpoints: the mapping of HTTP requests to calls of the domain, and of their results to responses.
//
// Owns: the table of routes, the shapes of bodies, the authentication of callers, the rate limits, and the one mapping of the
// domain's errors to answers, in three formats: pages for people, OAuth's JSON under /oauth, RFC 9457 problems elsewhere.
//
// Must not know: sockets (`HTTPServer`), databases, and the rules for tokens and sessions (`Sessions`).
//
// Reading order: Routing/Routes, then the way of a refresh: OAuth/TokenEndpoint, OAuth/RefreshTokenGrant,
// Responses/TokenAnswer. RouteTable finds a route, Call is one request, Authentication identifies the caller, Members reads
// bodies, ErrorMapping answers errors, CORS says which pages of other origins read answers. One file for each endpoint or
// small family, in the folders OAuth, Apps and Admin. PhoneLogin has MyPhoneLogins (the phone), DevicePhoneLogins (the device
// that waits), Enrolments (invitations) and AppLogin. PageLogin has the login page: AuthorizeEndpoint, LoginPageEndpoint,
// LogoutPageEndpoint, with the HTML of `Pages`.
// Account has the pages of a user's account: AccountPageRequest finds the user of the browser, the others are one page each.
// Console answers for the pages of admins: ConsoleRequest finds the admin key of the browser, ConsoleForms runs the acts of
// forms; the target `Console` has their words. EventStreams has the streams of security events to clients. A row stands in the
// file of its handler; Document makes the API document from the rows: Operation is what a row says of its call, Refusal what
// follows from it.

internal import Glibc
public import HTTP
public import Pages
public import Sessions
public import Telemetry

/// Answers every call of both listeners.
public final class Endpoints: Sendable {
    let context: ServiceContext
    let services: Services
    let metrics: EndpointMetrics
    let rateLimiter: RateLimiter
    let revocations: RevocationFeed
    let registry: MetricsRegistry
    let logger: Logger
    /// The log of failures that repeat.
    let failures: FailureLog
    let retryAfter: RetryAfter
    let isStopping: @Sendable () -> Bool
    let backups: (any BackupService)?
    let identityVerifier: (any IdentityVerifier)?
    /// Where network addresses are, and what a device has to share with the phone that lets it in.
    let remoteLogins: Proximity
    let scopes: Scope
    /// The calls that wait for an event.
    let waitingCalls: WaitingCalls
    let consoleSettings: ConsoleSettings
    /// What the console says about the machine.
    let machine: MachineState
    /// The languages of pages and mails.
    let languages: PageLanguages
    /// The clock that tests of apps move; nil for a server that is no test server.
    let testClock: TestClock?
    let consoleSessions = ConsoleSessions()
    let stopwatch: @Sendable () -> Int64
    /// The origins of all clients, for preflights.
    let origins: ClientOrigins
    private let requestIDs: RequestIDMaker
    /// The path in the issuer's URL.
    let issuerPath: IssuerPath
    let issuerPathArrival: IssuerPath.Arrival
    let publicTable: RouteTable
    /// What is not below the path, where requests come with it; nil elsewhere.
    let rootTable: RouteTable?
    let adminTable: RouteTable

    /// The endpoints of the services of `context`.
    ///
    /// - Parameters:
    ///   - metrics: gets the metrics of this module, and is shown by `GET /metrics`.
    ///   - failures: the log of failures that repeat, which a store shares; nil: a new one over `logger`.
    ///   - retryAfter: how long refused clients wait, which an engine shares; nil: a new one.
    ///   - rateLimits: the rate limits.
    ///   - backups: copies the database while it serves, if it can.
    ///   - identityVerifier: verifies ID tokens, if there are identity providers.
    ///   - remoteLogins: where network addresses are, and what a device has to share with the phone that lets it in.
    ///   - scopes: the scopes in the server's metadata; each client has its own.
    ///   - waiting: how many calls may wait for an event at the same time.
    ///   - console: what the operator has decided about the console.
    ///   - history: gets the outcomes of refreshes and logins, and has those of the store; nil: a new one.
    ///   - machine: what the console says about the machine.
    ///   - languages: the languages of pages and mails.
    ///   - issuerPath: how the path in the issuer's URL comes in requests.
    ///   - testClock: the clock that tests of apps move; nil: there are no calls for tests.
    ///   - isStopping: whether the server is about to stop, so that `GET /readyz` answers 503.
    ///   - stopwatch: nanoseconds since some moment, for the duration of requests and of waits.
    ///   - sleep: lets a call wait.
    public init(
        context: ServiceContext, metrics registry: MetricsRegistry, logger: Logger,
        failures: FailureLog? = nil, retryAfter: RetryAfter? = nil, rateLimits: RateLimits = RateLimits(),
        backups: (any BackupService)? = nil, identityVerifier: (any IdentityVerifier)? = nil,
        remoteLogins: Proximity = Proximity(), scopes: Scope = .empty, waiting: WaitingLimits = WaitingLimits(),
        console: ConsoleSettings = ConsoleSettings(), history: OutcomeHistory? = nil,
        machine: MachineState = MachineState(), languages: PageLanguages = .builtIn,
        issuerPath arrival: IssuerPath.Arrival = .either,
        testClock: TestClock? = nil,
        isStopping: @escaping @Sendable () -> Bool = { false },
        stopwatch: @escaping @Sendable () -> Int64 = Endpoints.monotonicTime,
        sleep: @escaping @Sendable (Duration) async -> Void = { try? await Task.sleep(for: $0) }
    ) {
        self.context = context
        let (start, instant) = (stopwatch(), ContinuousClock.now)
        let now = { @Sendable in instant + .nanoseconds(stopwatch() - start) }
        services = Services(context, now: now, sleep: sleep)
        revocations = RevocationFeed(source: context.store, clock: context.clock, now: now)
        services.phoneLogins.watch.follow(revocations)
        self.registry = registry
        issuerPath = IssuerPath(of: context.issuer)
        issuerPathArrival = arrival
        let metadataRoutes = issuerPath.metadataRoutes
        rootTable =
            arrival == .kept && !issuerPath.text.isEmpty
            ? RouteTable(metadataRoutes + IssuerPath.rootRoutes, on: .public) : nil
        let routes = Route.all + metadataRoutes
        metrics = EndpointMetrics(registry, routes: routes, history: history ?? OutcomeHistory(context.clock))
        rateLimiter = RateLimiter(rateLimits, registry, stopwatch: stopwatch)
        self.logger = logger
        self.failures = failures ?? FailureLog(logger)
        self.retryAfter = retryAfter ?? RetryAfter(random: context.random, now: now)
        self.isStopping = isStopping
        self.backups = backups
        self.identityVerifier = identityVerifier
        self.remoteLogins = remoteLogins
        self.scopes = scopes
        waitingCalls = WaitingCalls(waiting, registry)
        consoleSettings = console
        self.machine = machine
        self.languages = languages
        self.testClock = testClock
        self.stopwatch = stopwatch
        origins = ClientOrigins(context, stopwatch: stopwatch)
        requestIDs = RequestIDMaker(context.random)
        publicTable = RouteTable(routes, on: .public)
        adminTable = RouteTable(routes, on: .admin)
    }

    /// The service of logins with a phone, which the clean-up shares, so that its changes wake the requests that wait here.
    public var phoneLogins: PhoneLoginService { services.phoneLogins }

    /// RFC 6797: a client that has used https uses nothing else for a year. Over http the field must not be sent (section 7.2).
    private static let transportSecurity = "max-age=31536000"

    /// Nanoseconds since some moment, from the monotonic clock.
    @Sendable public static func monotonicTime() -> Int64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }

    /// Answers any request; at once, if nothing has to be awaited for the answer.
    public func reply(to request: Request, from caller: Caller) -> Reply {
        // `IssuerPath.swift` has `find`.
        let (request, finding) = find(request, caller)
        return reply(to: request, finding, from: caller)
    }

    private func reply(to request: Request, _ finding: RouteTable.Finding, from caller: Caller) -> Reply {
        let id = RequestID(keptFrom: request.fields) ?? requestIDs.next()
        switch finding {
        case .fixed(var answer):
            finish(&answer, request, caller, id, nil, nil)
            return .now(answer)
        case .options(let options): return optionsReply(request, options, caller, id)
        case .refused(let problem, let allow):
            var answer = refusal(problem, request, caller, id)
            if let allow { answer.fields.append("Allow", allow) }
            finish(&answer, request, caller, id, nil, nil)
            return .now(answer)
        case .route(let route, let parameter):
            if case .immediate(let handle) = route.handler {
                var answer = immediateAnswer(request, caller, id, route, handle)
                finish(&answer, request, caller, id, route, nil)
                return .now(answer)
            }
            let start = stopwatch()
            let call = Call(
                request: request, caller: caller, requestID: id.text, route: route, parameter: parameter,
                issuerPath: issuerPath(for: caller), languages: languages, page: page(of: request, route, caller))
            if call.mayWait {
                // The closure has no capture list, because with one it would change to the loop's queue and back again (Swift
                // 6.3).
                return .streaming(
                    StreamingReply(longestWait: Self.longestWait) { await self.streamingAnswer(call, id, route, start) }
                )
            }
            if call.page != nil { return .later { await self.answerPage(call, id, route, start) } }
            return .later { await self.answer(call, id, route, start) }
        }
    }

    private func answer(_ call: Call, _ id: RequestID, _ route: Route, _ start: Int64) async -> Response {
        var answer = await answer(call)
        appendNonce(to: &answer, call.request)
        finish(&answer, call.request, call.caller, id, route, start, call.page)
        return answer
    }

    private func answerPage(_ call: Call, _ id: RequestID, _ route: Route, _ start: Int64) async -> Response {
        await prepare(call.page)
        return await answer(call, id, route, start)
    }

    private func streamingAnswer(_ call: Call, _ id: RequestID, _ route: Route, _ start: Int64) async -> StreamingAnswer
    {
        if call.page != nil { await prepare(call.page) }
        switch await streamingAnswer(call) {
        case .whole(var answer):
            appendNonce(to: &answer, call.request)
            finish(&answer, call.request, call.caller, id, route, start, call.page)
            return .whole(answer)
        case .stream(var stream):
            finish(&stream.head, call.request, call.caller, id, route, start, call.page)
            return .stream(stream)
        }
    }

    /// Adds the fields that every answer has, and counts it. An immediate answer has no `start`, because timing it would cost
    /// more than answering.
    func finish(
        _ response: inout Response, _ request: Request, _ caller: Caller, _ id: RequestID, _ route: Route?,
        _ start: Int64?, _ page: CallingPage? = nil
    ) {
        if route?.errorFormat ?? .page == .page { PagePath.place(&response.body, below: issuerPath(for: caller).text) }
        if response.status == .serviceUnavailable, !response.fields.contains("Retry-After") {
            // A probe that asks for readiness, or a page.
            response.fields.append("Retry-After", "\(retryAfter.seconds(upTo: RetryAfterPolicy.limits.lowerBound))")
        }
        if let route, route.isRepresentation { Preconditions.apply(request, to: &response) }
        if let route { appendCORS(to: &response, route, page, caller) }
        id.append(to: &response.fields)
        if response.fields.contains("Cache-Control") {
            // Pages have it already.
            if !response.fields.contains("X-Content-Type-Options") { response.fields.append(Self.protection) }
        } else {
            response.fields.append(Self.secrecy)
        }
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
                error,
                to: Call(
                    request: request, caller: caller, requestID: id.text, route: route, parameter: "",
                    issuerPath: issuerPath(for: caller), languages: languages))
        }
    }

    /// Lets the route's handler answer, after the caller has proved what the route requires.
    func answer(_ call: Call) async -> Response {
        do {
            if call.request.method == .put { try refusePart(call.request) }
            if call.route.errorFormat == .page, call.transport == nil { throw RequestProblem.needsTLS }
            switch call.route.handler {
            case .immediate(let handle): return try handle(self)
            case .open(let handle):
                if call.route.isStreaming, call.mayWait { return try await openWaitingAnswer(call, handle) }
                return try await handle(self, call)
            case .user(let demands, let handle): return try await userAnswer(call, demands, handle)
            case .owner(let handle): return try await ownerAnswer(call, handle)
            case .client(let scopes, let handle): return try await clientAnswer(call, scopes, handle)
            case .admin(let scope, let other, let handle):
                return try await adminAnswer(call, [scope, other].compactMap(\.self), handle)
            case .streaming, .openStreaming: return await streamingAnswer(call).head
            }
        } catch let error as ServiceError {
            return errorResponse(rateLimiter.refusal(await services.passkeys.settled(error), of: call), to: call)
        } catch {
            return errorResponse(rateLimiter.refusal(error, of: call), to: call)
        }
    }

    /// Refuses a PUT of a part (RFC 9110 section 14.5), which would be taken for the whole.
    private func refusePart(_ request: Request) throws {
        if request.fields.contains("Content-Range") {
            throw RequestProblem.invalid("Content-Range", "is not supported: send the whole")
        }
    }
}

/// The caller of a request, as far as the connection shows.
public struct Caller: Hashable, Sendable {
    /// The listener of a request.
    public enum Listener: Hashable, Sendable {
        /// The listener of the apps.
        case `public`
        /// The listener of admins and Prometheus.
        case admin
        /// The Unix socket beside the database, which only the server's own user can open, so that it needs no admin key.
        case adminSocket
    }

    /// The network address of the sender; nil when there is none.
    public let remoteAddress: String?
    /// The listener that received the request.
    public let listener: Listener
    /// Whether the request came over https to this server, or to a trusted proxy.
    public let isSecure: Bool
    /// Whether the connection is that of a trusted proxy, which may name the request about which it asks.
    public let isProxy: Bool

    /// A caller.
    public init(remoteAddress: String?, listener: Listener, isSecure: Bool = false, isProxy: Bool = false) {
        self.remoteAddress = remoteAddress
        self.listener = listener
        self.isSecure = isSecure
        self.isProxy = isProxy
    }
}
