internal import HTTP
internal import OAuth
internal import Sessions

extension Endpoints {
    /// `grant_type=urn:ietf:params:oauth:grant-type:jwt-bearer` (RFC 7523 section 2.1): the key that a device registered at
    /// its login resumes the session.
    func jwtBearerGrant(_ request: TokenRequest, _ identity: ClientIdentity, _ call: Call) async throws -> Response {
        guard let assertion = request.assertion else { throw RequestProblem.invalid("assertion", "is missing") }
        let presenter = try identity.presenter(by: .jwtBearer)
        let attempt = RefreshAttempt(
            token: assertion, clientID: presenter.id, isClientAuthenticated: presenter.isAuthenticated,
            deviceID: try request.namedDevice(), sentAt: try request.sendingTime(),
            scope: try request.requestedScope(), resources: request.resources, proof: call.proof,
            evidence: try request.evidence(identityVerifier),
            deviceReport: request.saysDevice ? try request.deviceReport() : nil, isOfDeviceKey: true, page: call.page)
        var isAdmitted = false
        do throws(ServiceError) {
            let grant = try await services.deviceKeys.resume(attempt, from: call.origin) { id throws(ServiceError) in
                try rateLimiter.admitRefresh(of: id)
                isAdmitted = true
            }
            metrics.countRefresh(granting: grant)
            return TokenAnswer.response(grant)
        } catch {
            metrics.countRefresh(failing: error)
            if isAdmitted { rateLimiter.giveBackRefresh(of: attempt.sessionID, after: error) }
            // Only an assertion that the session's key has signed counts against the session and its user.
            let userID = attempt.refusedUserID
            let credential = userID == nil ? nil : attempt.sessionID.map(RateLimiter.Credential.session)
            let refusal = rateLimiter.refusal(error, to: credential, of: userID)
            try await explain(refusal, to: identity, call)
            throw refusal
        }
    }
}
