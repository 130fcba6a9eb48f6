internal import HTTP
internal import OAuth
internal import Sessions

extension Endpoints {
    /// `GET /v1/verify`: forward authentication for proxies. Answers 200 with the caller's identity in header fields, or 401.
    /// Each call reads the store, so that an ended session or a user disabled with immediate effect is refused at once.
    ///
    /// The route accepts any suffix of the path and any method, because Envoy appends the original path and uses the original
    /// method.
    ///
    /// The query parameter `audience` names the API behind the proxy; without it the token must be for the server's own
    /// audience. The parameter is ignored where a path is appended, because there the query comes from the caller and not from
    /// the proxy.
    func verify(_ call: Call) async throws -> Response {
        let named =
            call.route.pattern == "/v1/verify"
            ? try QueryParameters(call, known: ["audience"]).wholeText("audience")
            : nil
        let requirement = named.map(AudienceRequirement.named) ?? .own
        let (token, use) = try presentedToken(call)
        var response = Response(status: .ok)
        do throws(ServiceError) {
            let session = try await services.accessTokens.authenticate(
                token, as: use, for: requirement, from: call.origin)
            response.fields.append("X-User-Id", session.user.id.description)
            response.fields.append("X-Session-Id", session.session.id.description)
            response.fields.append("X-Device-Id", session.session.device.id)
            response.fields.append("X-Client-Id", session.session.clientID)
            response.fields.append("X-Scope", session.scope.description)
            response.fields.append("X-Audience", session.audience.joined(separator: " "))
        } catch {
            guard error == .invalidToken(nil),
                case .clientToken(let client) = try await services.accessTokens.introspect(token, from: call.origin),
                use.fits(client.keyThumbprint), requirement.isMet(by: client.audience, own: context.audience)
            else { throw error }
            try use.use(for: client.proofRequirement)
            response.fields.append("X-Client-Id", client.clientID)
            response.fields.append("X-Scope", client.scope.description)
            response.fields.append("X-Audience", client.audience.joined(separator: " "))
        }
        return response
    }
}

extension Route {
    static let verify = Route(
        .get, "/v1/verify", isForwardAuthentication: true, .open { try await $0.verify($1) },
        Operation(
            "verify", .proxies, "May this request pass?",
            """
            Forward authentication for nginx, Caddy, Traefik and Envoy. Each check reads the store, so that an \
            ended session is refused at once. Every method works. A proof of possession must be made for the \
            original request. Only `server.trusted_proxies` can name that request, by `X-Forwarded-Method`, \
            `-Proto`, `-Host` and `-Uri`, all four and each once.
            """,
            parameters: ["audience", "X-Forwarded-Method", "X-Forwarded-Proto", "X-Forwarded-Host", "X-Forwarded-Uri"],
            security: [.bearer, .dpop], answers: [.inline(200, "Permission")]))

    static let verifyPath = Route(
        .get, "/v1/verify/*", isForwardAuthentication: true, .open { try await $0.verify($1) },
        Operation(
            "verify_path", .proxies, "May this request pass? (Envoy)",
            """
            Envoy appends the path of the original request and uses its method, so that every method works here. \
            A proof of possession must be made for that method, the `Host` and the path. The server accepts it \
            from `server.trusted_proxies` alone.
            """,
            parameters: ["X-Forwarded-Proto.path"], security: [.bearer, .dpop],
            answers: [.inline(200, "Permission")]))
}
