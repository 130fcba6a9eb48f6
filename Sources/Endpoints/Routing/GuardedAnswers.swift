// Shaped for speed: these functions are not inlined into `Endpoints.answer`, because every refresh allocates its async frame.
// The frames of a refresh take 6000 bytes instead of 34 000 (`Sessions/UseCases/RefreshService.swift` has the command).

internal import HTTP
internal import Sessions

extension Session {
    /// Throws if a phone has let the session in a short time ago.
    func refuseOnProbation(at now: Instant) throws(ServiceError) {
        if isOnProbation(at: now) { throw .login(.barred) }
    }
}

// The answers of routes that require more than a refresh does.
extension Endpoints {
    /// The answer of a route for users.
    @inline(never)
    func userAnswer(
        _ call: Call, requiresPresence: Bool, _ handle: (Endpoints, Call, AuthenticatedSession) async throws -> Response
    ) async throws -> Response {
        let session = try await authenticatedSession(call, requiresPresence: requiresPresence)
        if call.route.isBarredOnProbation { try session.session.refuseOnProbation(at: context.clock.now) }
        if requiresPresence { try Preconditions.check(call.request) }
        return try await handle(self, call, session)
    }

    /// The answer of a route for clients.
    @inline(never)
    func clientAnswer(
        _ call: Call, _ scopes: [String], _ handle: (Endpoints, Call, ClientToken) async throws -> Response
    ) async throws -> Response {
        let (token, use) = try presentedToken(call)
        let client = try await services.accessTokens.authenticateClient(token, as: use)
        guard client.scope.tokens.contains(where: scopes.contains) else { throw RequestProblem.scopeMissing(scopes[0]) }
        var call = call
        call.actor = "client:\(client.clientID)"
        try Preconditions.check(call.request)
        return try await handle(self, call, client)
    }

    /// The answer of a route for admins.
    @inline(never)
    func adminAnswer(
        _ call: Call, _ scope: AdminKey.Scope, _ handle: (Endpoints, Call) async throws -> Response
    ) async throws -> Response {
        var call = call
        call.actor = try await authenticatedAdmin(call, for: scope)
        try Preconditions.check(call.request)
        return try await handle(self, call)
    }

    /// The answer of a route that may wait for an event.
    @inline(never)
    func streamingAnswer(_ call: Call) async -> StreamingAnswer {
        do {
            switch call.route.handler {
            case .streaming(let scope, let handle):
                var call = call
                call.actor = try await authenticatedAdmin(call, for: scope)
                return try await handle(self, call)
            case .openStreaming(let handle): return try await handle(self, call)
            case .immediate, .open, .user, .userWithoutPresence, .client, .admin: return .whole(await answer(call))
            }
        } catch {
            return .whole(errorResponse(rateLimiter.refusal(error, of: call), to: call))
        }
    }
}
