// Shaped for speed: these functions are not inlined into `Endpoints.answer`, because every refresh allocates its async frame.
// The frames of a refresh take 6000 bytes instead of 34 000 (`Sessions/Refresh/RefreshService.swift` has the command).

internal import HTTP
internal import OAuth
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
        _ call: Call, _ demands: Route.UserDemands,
        _ handle: (Endpoints, Call, AuthenticatedSession) async throws -> Response
    ) async throws -> Response {
        let (token, use) = try presentedToken(call)
        let session = try await admittedSession(token, as: use, demands, call)
        let requiresPresence = demands.contains(.presence)
        if requiresPresence { try Preconditions.check(call.request) }
        if call.mayWait {
            // The proof of a key was used by the first authentication, and is not asked for again.
            let admission = Admission(lifetime: session.expiresAt - context.clock.now) { [self] in
                _ = try await admittedSession(token, as: .inquiry, demands, call)
            }
            return try await waiting(
                call.with(admission), in: waitingCalls.place(for: .session(session.session.id))
            ) { try await handle(self, $0, session) }
        }
        return try await handle(self, call, session)
    }

    /// The answer of a route for the owner of an account, with or without an access token.
    @inline(never)
    func ownerAnswer(
        _ call: Call, _ handle: (Endpoints, Call, AuthenticatedSession?) async throws -> Response
    ) async throws -> Response {
        switch try call.authorization() {
        case .bearer?, .dpop?: return try await userAnswer(call, .all) { try await handle($0, $1, $2) }
        case .basic?, nil:
            try Preconditions.check(call.request)
            return try await handle(self, call, nil)
        }
    }

    /// The active session of an access token, which may make the call.
    private func admittedSession(
        _ token: String, as use: TokenUse, _ demands: Route.UserDemands, _ call: Call
    ) async throws -> AuthenticatedSession {
        let session = try await services.accessTokens.authenticate(
            token, as: use, scope: demands.contains(.account) ? Scope.account : nil,
            requiresPresence: demands.contains(.presence), from: call.origin)
        try call.page?.admit(in: session.record)
        if call.route.isBarredOnProbation { try session.session.refuseOnProbation(at: context.clock.now) }
        return session
    }

    /// The answer of a route for clients.
    @inline(never)
    func clientAnswer(
        _ call: Call, _ scopes: [String], _ handle: (Endpoints, Call, ClientToken) async throws -> Response
    ) async throws -> Response {
        let (token, use) = try presentedToken(call)
        let client = try await admittedClient(token, as: use, scopes)
        var call = call
        call.actor = "client:\(client.clientID)"
        try Preconditions.check(call.request)
        if call.mayWait {
            let admission = Admission(lifetime: client.expiresAt - context.clock.now) { [self] in
                _ = try await admittedClient(token, as: .inquiry, scopes)
            }
            return try await waiting(call.with(admission), in: waitingCalls.place(for: .client(client.clientID))) {
                try await handle(self, $0, client)
            }
        }
        return try await handle(self, call, client)
    }

    /// The client of an access token, which has one of those scopes.
    private func admittedClient(
        _ token: String, as use: TokenUse, _ scopes: [String]
    ) async throws -> ClientToken {
        try await services.accessTokens.authenticateClient(token, as: use, scopes: scopes)
    }

    /// The answer of a route for admins.
    @inline(never)
    func adminAnswer(
        _ call: Call, _ scopes: [AdminKey.Scope], _ handle: (Endpoints, Call) async throws -> Response
    ) async throws -> Response {
        let call = try await admitted(call, for: scopes)
        try Preconditions.check(call.request)
        return try await handle(self, call)
    }

    /// The answer of a route that may wait for an event.
    @inline(never)
    func streamingAnswer(_ call: Call) async -> StreamingAnswer {
        do {
            switch call.route.handler {
            case .streaming(let scope, let handle):
                return try await handle(self, try await admitted(call, for: [scope]))
            case .openStreaming(let handle): return try await handle(self, call)
            case .immediate, .open, .user, .owner, .client, .admin: return .whole(await answer(call))
            }
        } catch {
            return .whole(errorResponse(rateLimiter.refusal(error, of: call), to: call))
        }
    }
}
