internal import HTTP
internal import OAuth
internal import Pages
internal import Sessions

extension LoginPage.Message {
    /// The status of the login page with this message.
    var status: Status {
        switch self {
        case .stale(let stale): stale.status
        case .signInAgain, .signInToFinish: .ok
        case .wrongCredentials, .providerFailed, .passkeyFailed: .unprocessable
        case .secondFactorNeeded: .forbidden
        case .loginsPaused, .loginsBlocked: .forbidden
        case .tooManyAttempts: .tooManyRequests
        case .unavailable: .serviceUnavailable
        }
    }
}

extension Call {
    /// The language of the pages for this request.
    func language(_ request: AuthorizationRequest? = nil) -> PageLanguage {
        languages.chosen(
            uiLocales: request?.uiLocales, acceptLanguage: self.request.fields.first("Accept-Language"))
    }
}

extension Endpoints {
    /// The app of a request, as the pages show it; `client` has the branding of the settings where it has none. The way back is an answer to the client, or the page of the client that
    /// starts a login.
    func app(_ client: Client, _ request: AuthorizationRequest? = nil) -> PageApp {
        let refused = request.flatMap { request in
            answer(.accessDenied, "The user has gone back.", to: request).fields.first("Location")
        }
        return PageApp(
            client.name ?? client.id, client.branding,
            back: (client.page.initiateLoginURI ?? refused).flatMap { PageURL(absolute: $0) })
    }

    /// The app of a request; without a client, the service.
    func appOrService(_ client: Client?, _ request: AuthorizationRequest) async throws -> PageApp? {
        if let client { return app(client, request) }
        return PageApp(ofService: try await services.pageLogin.branding())
    }

    /// The page of an error, for people.
    func errorPage(_ problem: Problem, to call: Call) -> Response {
        if call.route.listeners == .admin { return consoleErrorPage(problem, to: call) }
        if problem.httpStatus == .misdirectedRequest {
            let query = call.request.target.query.map { "?" + $0 } ?? ""
            let secure =
                context.issuer.hasPrefix("https://")
                ? PageURL(absolute: context.url(call.request.target.path) + query) : nil
            return NeedsTLSPage(secure: secure).response(problem.httpStatus, in: call.language())
        }
        let kind: ErrorPage.Kind =
            switch (problem.httpStatus.code, problem.member) {
            case (403, _): .otherSite
            case (404, _): .notFound
            case (429, _): .tooManyRequests
            case (503, _): .serverBusy
            case (500..., _): .serverFailed
            case (_, "client_id"): .unknownClient
            case (_, "redirect_uri"), (_, "post_logout_redirect_uri"): .unregisteredRedirect
            default: .invalidRequest
            }
        return ErrorPage(kind, detail: problem.detail, requestID: call.requestID)
            .response(problem.httpStatus, in: call.language())
    }

    /// The page for a request that is too old: it leads back to the client.
    func expiredPage(_ request: AuthorizationRequest, _ call: Call) async throws -> Response {
        // The account page makes a new request.
        if request.isOfAccountPages { return Self.redirect(to: request.redirectURI) }
        let client = try await services.pageLogin.client(request.clientID)
        let app = client.map { self.app($0, request) }
        return ExpiredPage(app: app, next: app?.back).response(.ok, in: call.language(request))
    }

    /// `GET /assets/…`: the style sheets and the modules of script.
    func asset(_ call: Call) throws -> Response {
        guard let response = PageAsset.response(at: call.request.target.path) else {
            throw ServiceError.notFound("file")
        }
        return response
    }
}

extension Route {
    static let asset = file("/assets/{name}", "asset", on: .both)
    static let accentStyle = file("/assets/accent/{name}", "accentStyle", on: .public)

    private static func file(_ pattern: String, _ id: String, on listeners: Listeners) -> Route {
        Route(
            .get, pattern, on: listeners, cors: .noOrigin, .open { try $0.asset($1) },
            Operation(
                id, .loginPage, "A file of the pages",
                "Style sheets and modules of script, which never change under their name.",
                answers: [.inline(200, "Asset")], errors: [.notFound]))
    }
}
