internal import HTTP
internal import OAuth
internal import Sessions

extension Endpoints {
    /// `grant_type=refresh_token` (RFC 6749 section 6): refreshes a session.
    func refreshTokenGrant(_ request: TokenRequest, _ identity: ClientIdentity, _ call: Call) async throws -> Response {
        let refresh = try refreshRequest(request, identity, call)
        do throws(ServiceError) {
            return try await self.refresh(refresh, call)
        } catch {
            try await explain(error, to: identity, call)
            throw error
        }
    }

    @inline(never)
    private func refreshRequest(
        _ request: TokenRequest, _ identity: ClientIdentity, _ call: Call
    ) throws -> RefreshRequest {
        guard let token = request.refreshToken else { throw RequestProblem.invalid("refresh_token", "is missing") }
        let presenter = try identity.presenter(by: .refreshToken)
        var refresh = RefreshRequest(
            token: token, clientID: presenter.id, isClientAuthenticated: presenter.isAuthenticated,
            deviceID: try request.namedDevice(), idempotencyKey: try call.idempotencyKey(),
            scope: try request.requestedScope(), proof: call.proof)
        refresh.evidence = request.evidence
        refresh.resources = request.resources
        return refresh
    }

    /// Throws `invalid_client` if the refresh was refused because the client is unknown, or is confidential and did not
    /// authenticate (RFC 6749 section 5.2). Only a refused refresh pays for this read of the store.
    @inline(never)
    func explain(_ error: ServiceError, to identity: ClientIdentity, _ call: Call) async throws {
        if error == .refused(.bindingMismatch), case .named = identity { _ = try await client(identity, call) }
    }

    /// Refreshes a session for `/oauth/token` and `/v1/refresh`, and makes the answer.
    func refresh(_ request: RefreshRequest, _ call: Call) async throws(ServiceError) -> Response {
        var owner: Identifier<User>?
        do throws(ServiceError) {
            let (grant, decision) = try await tokens.refresh(request, from: call.origin) { owner = $0 }
            let response = TokenAnswer.response(grant)
            metrics.count(decision)
            return response
        } catch {
            metrics.countRefresh(failing: error)
            let session = try await tokens.refreshedSession(in: request.token).map(RateLimiter.Holder.session)
            throw doors.refusal(error, to: session ?? owner.map { _ in .foreignToken(request.token) }, of: owner)
        }
    }
}
