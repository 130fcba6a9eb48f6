internal import HTTP
internal import Sessions

extension Route {
    /// The pages of other origins that may read the answers of a route (CORS, WHATWG Fetch section 3.2). No answer allows
    /// credentials, because cookies belong to the pages of this server, which no other page reads.
    enum CORS: Sendable {
        /// None.
        case noOrigin
        /// Every page: a public document.
        case everyOrigin
        /// Those of the client of the request, which the handler notes once it is verified.
        case client
        /// Those of the client of the request, if it names one, and otherwise those of any client.
        case anyClient
    }

    /// What follows from the row; nil: the row has to say it.
    static func cors(
        _ handler: Handler, _ errorFormat: ErrorFormat, on listeners: Listeners, isForwardAuthentication: Bool
    ) -> CORS? {
        if listeners == .admin || errorFormat == .page || isForwardAuthentication { return .noOrigin }
        return switch handler {
        case .user: .client
        // A password and an ID token name no client.
        case .owner: .anyClient
        // The clients of these calls are backends.
        case .client, .admin, .streaming: .noOrigin
        case .immediate, .open, .openStreaming: nil
        }
    }
}

// The fields of answers.
extension Endpoints {
    private static let publicFields: Fields = [
        "Access-Control-Allow-Origin": "*", "Access-Control-Expose-Headers": exposed,
    ]
    private static let exposed = "DPoP-Nonce, WWW-Authenticate, Retry-After, Date, Age, X-Request-Id"

    /// The page that sends the request; nil without the field `Origin`, and where the route has nothing for pages of other origins.
    func page(of request: Request, _ route: Route, _ caller: Caller) -> CallingPage? {
        guard route.cors == .client || route.cors == .anyClient, caller.listener == .public,
            request.fields.contains("Origin")
        else { return nil }
        // No client has the origin of a request with two.
        let origin = request.fields.values("Origin").joined(separator: ", ")
        return CallingPage(origin: origin, isOwn: origins.isOwn(origin))
    }

    /// Lets the origins of the clients be known, before a request of a page is answered.
    func prepare(_ page: CallingPage?) async {
        if let page, !origins.isSure(of: page.origin) { await origins.look() }
    }

    /// Has the client with that id, which a public client proves by its name alone, allow the page of the call.
    func admitPage(of call: Call, _ clientID: String) async throws {
        guard let page = call.page, let client = try await services.phoneLogins.client(clientID) else { return }
        try page.admit(client)
    }

    /// Adds what lets a page of another origin read the answer.
    func appendCORS(to response: inout Response, _ route: Route, _ page: CallingPage?, _ caller: Caller) {
        switch route.cors {
        case .noOrigin: return
        case .everyOrigin: if caller.listener == .public { response.fields.append(Self.publicFields) }
        case .client, .anyClient:
            guard let page else {
                // A cache may give the answer to a page that does send the field.
                if route.isRepresentation, let rule = response.fields.first("Cache-Control"), rule != "no-store" {
                    response.fields.append("Vary", constant: "Origin")
                }
                return
            }
            response.fields.append("Vary", constant: "Origin")
            guard canRead(response, route, page) else { return }
            response.fields.append("Access-Control-Allow-Origin", page.origin)
            response.fields.append("Access-Control-Expose-Headers", Self.exposed)
        }
    }

    private func canRead(_ response: Response, _ route: Route, _ page: CallingPage) -> Bool {
        switch page.standing {
        case .allowed: true
        case .ignored, .refused: false
        // An error says nothing of a client, and an app that cannot read it takes it for a broken network.
        case .clientUnknown:
            (route.cors == .anyClient || response.status.code >= 400) && origins.contains(page.origin)
        }
    }
}

// Preflights.
extension Endpoints {
    private static let preflightFields: Fields = [
        "Access-Control-Allow-Methods": "GET, POST, PUT, PATCH, DELETE",
        "Access-Control-Allow-Headers":
            "Authorization, Content-Type, DPoP, Idempotency-Key, traceparent, tracestate, baggage",
        // The longest time of Chromium.
        "Access-Control-Max-Age": "7200",
        "Vary": "Origin, Access-Control-Request-Method, Access-Control-Request-Headers",
    ]

    /// The answer to `OPTIONS`: that to a preflight of an origin of some client, and else the methods of the path.
    func optionsReply(_ request: Request, _ options: RouteTable.Options, _ caller: Caller, _ id: RequestID) -> Reply {
        // Nil: no page may read the answers.
        @Sendable func reply(_ origin: String?) -> Response {
            var answer =
                origin.map(Self.preflight) ?? Response(status: .noContent, fields: ["Allow": options.allow])
            finish(&answer, request, caller, id, nil, nil)
            return answer
        }
        guard caller.listener == .public, let origin = (try? request.fields.only("Origin")) ?? nil,
            let method = (try? request.fields.only("Access-Control-Request-Method")) ?? nil
        else { return .now(reply(nil)) }
        switch options.cors(Method(rawValue: method)) {
        case .noOrigin: return .now(reply(nil))
        case .everyOrigin: return .now(reply("*"))
        case .client, .anyClient: break
        }
        if origins.isSure(of: origin) {
            return .now(reply(origins.contains(origin) ? origin : nil))
        }
        return .later {
            await self.origins.look()
            return reply(self.origins.contains(origin) ? origin : nil)
        }
    }

    private static func preflight(_ origin: String) -> Response {
        var response = Response(status: .noContent, fields: preflightFields)
        response.fields.append("Access-Control-Allow-Origin", origin)
        return response
    }
}
