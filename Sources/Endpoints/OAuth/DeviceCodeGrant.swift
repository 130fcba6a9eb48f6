internal import HTTP
internal import OAuth
internal import Sessions

extension Endpoints {
    /// `grant_type=urn:ietf:params:oauth:grant-type:device_code` (RFC 8628 section 3.4): the session of a login that a phone, or a
    /// browser, has approved.
    func deviceCodeGrant(_ request: TokenRequest, _ identity: ClientIdentity, _ call: Call) async throws -> Response {
        let client = try await client(identity, call)
        guard client.grantTypes.contains(.deviceCode) else { throw ServiceError.unauthorizedClient }
        guard let code = request.deviceCode else { throw RequestProblem.invalid("device_code", "is missing") }
        guard request.sessionID == nil else {
            throw RequestProblem.invalid("session_id", "is not for this grant: the login starts a session of its own")
        }
        var login = try loginRequest(request, for: client, call)
        // The scope and the APIs are those of the request for the login.
        (login.scope, login.resources) = (nil, [])
        do throws(ServiceError) {
            let response = TokenAnswer.response(
                try await services.loginSessions.collect(code, login, from: call.origin))
            metrics.countLogin()
            return response
        } catch {
            if error != .login(.pending) { metrics.countLogin(failing: error) }
            throw error
        }
    }
}
