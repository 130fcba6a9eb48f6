internal import HTTP
internal import OAuth
internal import Sessions

extension Endpoints {
    /// `grant_type=urn:ietf:params:oauth:grant-type:device_code` (RFC 8628 section 3.4): the session of a login that a phone, or a
    /// browser, has approved.
    func deviceCodeGrant(_ request: TokenRequest, _ identity: ClientIdentity, _ call: Call) async throws -> Response {
        let client = try await client(identity, call)
        if let refusal = client.refusal(of: .deviceCode) { throw refusal }
        guard let code = request.deviceCode else { throw RequestProblem.invalid("device_code", "is missing") }
        return try await collected(request, for: client, by: .deviceCode, secret: code, call) {
            (login) throws(ServiceError) in
            let grant = try await services.phoneLogins.collect(
                code, login, returnToken: request.returnToken, from: call.origin)
            return TokenAnswer.response(grant, idToken: try idToken(of: grant, for: request))
        }
    }

    /// The answer that `collect` gives about the session of the login with that secret, which is counted. A client that asks too
    /// often while the login waits is told so.
    func collected(
        _ request: TokenRequest, for client: Client, by grant: Client.GrantType, secret: String, _ call: Call,
        _ collect: (SessionRequest) async throws(ServiceError) -> Response
    ) async throws -> Response {
        guard request.sessionID == nil else {
            throw RequestProblem.invalid("session_id", "is not for this grant: the login starts a session of its own")
        }
        var login = try loginRequest(request, for: client, by: grant, call)
        // The scope and the APIs are those of the request for the login.
        (login.scope, login.resources) = (nil, [])
        do throws(ServiceError) {
            let response = try await collect(login)
            metrics.countLogin()
            return response
        } catch {
            guard error == .login(.pending) else {
                metrics.countLogin(failing: error)
                throw error
            }
            if rateLimiter.isTooSoon(pollFor: secret) {
                throw RequestProblem.authorization(
                    .slowDown, "The client asks too often: the interval is five seconds longer from now on.")
            }
            throw error
        }
    }
}
