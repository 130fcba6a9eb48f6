internal import HTTP
internal import OAuth
internal import Sessions

extension Endpoints {
    /// `GET /v1/verify`: forward authentication for proxies. 200 with who asks in fields, or 401; always checked against
    /// the store, so that what was ended, or disabled with immediate effect, opens nothing from then on.
    ///
    /// Envoy asks with the method of the original request and appends its path: hence the route for any rest.
    ///
    /// `audience` in the query names the API that the proxy stands before, if tokens for the server's own audience are not
    /// to open it. Where a path is appended, so is the query of whoever asks: there it is not looked at.
    func verify(_ call: Call) async throws -> Response {
        let named =
            call.route.pattern == "/v1/verify"
            ? try QueryParameters(call, known: ["audience"]).wholeText("audience")
            : nil
        let demand = named.map(AudienceRequirement.named) ?? .own
        let (token, use) = try presentedToken(call)
        var response = Response(status: .ok)
        do throws(ServiceError) {
            let session = try await tokens.authenticate(token, as: use, for: demand, from: call.origin)
            response.fields.append("X-User-Id", session.user.id.description)
            response.fields.append("X-Session-Id", session.session.id.description)
            response.fields.append("X-Device-Id", session.session.device.id)
            response.fields.append("X-Client-Id", session.session.clientID)
            response.fields.append("X-Scope", session.scope.description)
            response.fields.append("X-Audience", session.audience.joined(separator: " "))
        } catch {
            guard error == .invalidToken(nil),
                case .clientToken(let client) = try await tokens.introspect(token, from: call.origin),
                use.fits(client.keyThumbprint), demand.isMet(by: client.audience, own: context.audience)
            else { throw error }
            try use.use()
            response.fields.append("X-Client-Id", client.clientID)
            response.fields.append("X-Scope", client.scope.description)
            response.fields.append("X-Audience", client.audience.joined(separator: " "))
        }
        return response
    }
}
