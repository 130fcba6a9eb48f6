internal import HTTP
internal import OAuth
internal import Sessions

extension Endpoints {
    /// `GET /v1/verify`: forward authentication for proxies. 200 with who asks in fields, or 401; always checked against
    /// the store, so that what was ended, or disabled with immediate effect, opens nothing from then on.
    ///
    /// Envoy asks with the method of the original request and appends its path: hence the route for any rest.
    func verify(_ call: Call) async throws -> Response {
        let (token, use) = try presentedToken(call)
        var response = Response(status: .ok)
        do throws(ServiceError) {
            let session = try await tokens.authenticate(token, as: use, from: call.origin)
            response.fields.append("X-User-Id", session.user.id.description)
            response.fields.append("X-Session-Id", session.session.id.description)
            response.fields.append("X-Device-Id", session.session.device.id)
            response.fields.append("X-Client-Id", session.session.clientID)
            response.fields.append("X-Scope", session.scope.description)
        } catch {
            guard error == .invalidToken(nil),
                case .clientToken(let clientID, let scope, _, _, let key) = try await tokens.introspect(
                    token, from: call.origin), use.fits(key)
            else { throw error }
            response.fields.append("X-Client-Id", clientID)
            response.fields.append("X-Scope", scope.description)
        }
        return response
    }
}
