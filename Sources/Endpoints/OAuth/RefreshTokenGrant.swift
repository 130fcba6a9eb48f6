// Shaped for speed: functions with `@inline(never)` keep their variables out of the async frames of a refresh. These frames
// take 6000 bytes instead of 34 000 (`Sessions/Refresh/RefreshService.swift` has the command).

internal import HTTP
internal import OAuth
internal import Sessions

extension Endpoints {
    /// `grant_type=refresh_token` (RFC 6749 section 6): refreshes a session.
    func refreshTokenGrant(_ request: TokenRequest, _ identity: ClientIdentity, _ call: Call) async throws -> Response {
        let attempt = try refreshAttempt(request, identity, call)
        do throws(ServiceError) {
            return try await renew(attempt, takesIDToken: request.takesIDToken, call)
        } catch {
            try await explain(error, to: identity, call)
            throw error
        }
    }

    /// The refresh that the form asks for.
    @inline(never)
    private func refreshAttempt(
        _ request: TokenRequest, _ identity: ClientIdentity, _ call: Call
    ) throws -> RefreshAttempt {
        guard let token = request.refreshToken else { throw RequestProblem.invalid("refresh_token", "is missing") }
        let presenter = try identity.presenter(by: .refreshToken)
        return RefreshAttempt(
            token: token, clientID: presenter.id, isClientAuthenticated: presenter.isAuthenticated,
            deviceID: try request.namedDevice(), idempotencyKey: try call.idempotencyKey(),
            sentAt: try request.sendingTime(), scope: try request.requestedScope(), resources: request.resources,
            proof: call.proof,
            evidence: try request.evidence(identityVerifier),
            deviceReport: request.saysDevice ? try request.deviceReport() : nil, page: call.page)
    }

    /// Throws `invalid_client` if that is the reason for which a session is not renewed: a confidential client has only named
    /// itself, or the client is unknown (RFC 6749 section 5.2). The store is asked only after the refusal.
    @inline(never)
    func explain(_ error: ServiceError, to identity: ClientIdentity, _ call: Call) async throws {
        if error == .refused(.bindingMismatch), case .named = identity { _ = try await client(identity, call) }
    }

    /// Refreshes, and makes the answer, for `/oauth/token` and `/v1/refresh`.
    ///
    /// - Parameter takesIDToken: whether the answer has an ID token, if the scope has `openid`.
    func renew(
        _ attempt: RefreshAttempt, takesIDToken: Bool = false, _ call: Call
    ) async throws(ServiceError) -> Response {
        do throws(ServiceError) {
            let grant = try await services.refresh.refresh(attempt, from: call.origin) { id throws(ServiceError) in
                try rateLimiter.admitRefresh(of: id)
            }
            let response = TokenAnswer.response(
                grant, idToken: takesIDToken ? try services.pageLogin.idToken(of: grant) : nil)
            metrics.countRefresh(granting: grant)
            return response
        } catch {
            metrics.countRefresh(failing: error)
            throw refusal(error, of: attempt)
        }
    }

    /// The error, or a 429 if the session, the foreign token or the user was refused too often.
    private func refusal(_ error: ServiceError, of attempt: RefreshAttempt) -> ServiceError {
        let userID = attempt.refusedUserID
        rateLimiter.giveBackRefresh(of: attempt.sessionID, after: error)
        let session = attempt.sessionID.map(RateLimiter.Credential.session)
        return rateLimiter.refusal(error, to: session ?? userID.map { _ in .foreignToken(attempt.token) }, of: userID)
    }
}
