internal import HTTP
internal import OAuth
internal import Sessions

extension Endpoints {
    /// `grant_type=urn:ietf:params:oauth:grant-type:jwt-bearer` (RFC 7523 section 2.1): resumes the session by an assertion of
    /// the key that the device registered at login.
    @inline(never)
    func jwtBearerGrant(_ request: TokenRequest, _ identity: ClientIdentity, _ call: Call) async throws -> Response {
        guard let assertion = request.assertion else { throw RequestProblem.invalid("assertion", "is missing") }
        let presenter = try identity.presenter(by: .jwtBearer)
        var resumption = ResumptionRequest(
            assertion: assertion, clientID: presenter.id, isClientAuthenticated: presenter.isAuthenticated,
            deviceID: try request.namedDevice(),
            scope: try request.requestedScope(), proof: call.proof)
        resumption.evidence = request.evidence
        resumption.resources = request.resources
        var proven: (session: Identifier<Session>, user: Identifier<User>)?
        do throws(ServiceError) {
            let (grant, decision) = try await tokens.resume(resumption, from: call.origin) { proven = ($0, $1) }
            metrics.count(decision)
            return TokenAnswer.response(grant)
        } catch {
            metrics.countRefresh(failing: error)
            let refusal = doors.refusal(error, to: (proven?.session).map(RateLimiter.Holder.session), of: proven?.user)
            try await explain(refusal, to: identity, call)
            throw refusal
        }
    }
}
