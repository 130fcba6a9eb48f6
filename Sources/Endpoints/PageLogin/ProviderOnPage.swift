internal import Cryptography
internal import HTTP
internal import OAuth
internal import Pages
internal import Sessions

/// The login at an identity provider, to which the login page leads (OpenID Connect Core section 3.1).
extension Endpoints {
    /// Where providers send browsers back: the redirect URI of this server.
    static let providerCallbackPath = "/login/callback"
    private var providerRedirectURI: String { context.url(Self.providerCallbackPath) }

    /// The providers of the page, in the order of the client, or else of the configuration.
    func providers(_ login: PageRegistration, _ request: AuthorizationRequest, _ sealed: String) -> [LoginPage.Provider]
    {
        let known = identityVerifier?.redirectProviders ?? []
        let named = login.loginMethods?.compactMap(\.provider) ?? known.map(\.name)
        return named.compactMap { name in
            guard login.offers(.provider(name), for: request) else { return nil }
            return known.first { $0.name == name }.map {
                LoginPage.Provider(name: $0.title, path: PagePath("/login/provider", ["name": name, "r": sealed]))
            }
        }
    }

    /// `GET /login/provider?name=&r=`: sends the browser to a provider. Nothing is stored: the browser carries the state there
    /// and back. A request that is not bound to this browser goes to the login page, which alone binds it.
    func goToProvider(_ call: Call) async throws -> Response {
        let parameters = call.query
        let visit = try visit(call, parameters["r"], isKept: nil)
        let request = visit.carried.request
        guard visit.carried.isTimely(at: context.clock.now) else { return try await expiredPage(request, call) }
        let client = try await services.pageLogin.client(request.clientID)
        guard let identityVerifier,
            let provider = identityVerifier.redirectProviders.first(where: { $0.name == parameters["name"] }),
            client?.page.offers(.provider(provider.name), for: request) == true
        else { throw RequestProblem.invalid("name", "is no provider of this page") }
        guard call.flowSecrets(visit.transport).contains(where: { $0.browser == visit.carried.browser }) else {
            return redirect(to: .loginPage(visit.sealed))
        }
        let login = start(
            visit.carried, at: provider, forced: client?.page.browserSession == BrowserSession.none)
        guard let state = context.requests.seal(login.carried) else {
            throw RequestProblem.invalid("r", "is too long for a login at a provider")
        }
        do throws(ServiceError) {
            return Self.redirect(to: try await identityVerifier.url(of: providerRequest(of: login, state)))
        } catch {
            return try await refusal(error, of: visit, provider: provider.title, call)
        }
    }

    private typealias BrowserSession = PageRegistration.BrowserSession

    /// A login at a provider, which has to ask the user if the configuration, the client or the request says so.
    private func start(
        _ carried: CarriedRequest, at provider: RedirectProvider, forced: Bool
    ) -> (carried: CarriedProviderLogin, asksUser: Bool) {
        let request = carried.request
        let now = context.clock.now.secondsSinceEpoch
        let asksUser = request.demandsLogin || request.demandsChoice || (provider.forcesLogin ?? forced)
        let since = asksUser ? now : request.maxAge.map { now.subtractingReportingOverflow($0).partialValue }
        return (
            CarriedProviderLogin(
                carried, provider: provider.name, nonce: Base64URL.encode(context.random.bytes(32)),
                codeVerifier: Base64URL.encode(context.random.bytes(32)), authenticatedSince: since), asksUser
        )
    }

    private func providerRequest(
        of login: (carried: CarriedProviderLogin, asksUser: Bool), _ state: String
    ) -> ProviderRequest {
        let asked = login.carried.carried.request
        var request = ProviderRequest(
            provider: login.carried.provider, redirectURI: providerRedirectURI, state: state,
            nonce: login.carried.nonce,
            codeChallenge: Base64URL.encode(sha256(Array(login.carried.codeVerifier.utf8))))
        request.asksUser = login.asksUser
        request.maxAge = asked.maxAge
        request.loginHint = asked.loginHint
        request.uiLocales = asked.uiLocales
        return request
    }

    /// `GET /login/callback`: takes the answer of a provider, logs its user in, and answers the client with a code. The answer has
    /// to come back in the browser that was sent: this call never binds a request to another flow cookie, or a stranger's
    /// answer could log the user in as the stranger.
    func completeProviderLogin(_ call: Call) async throws -> Response {
        guard let transport = call.transport else { throw RequestProblem.needsTLS }
        let parameters = call.query
        for name in ["state", "code", "error", "iss"] where parameters.repeats(name) {
            throw RequestProblem.invalid(name, "must stand only once")
        }
        guard let login = parameters["state"].flatMap({ context.requests.openState($0) }) else {
            throw RequestProblem.invalid("state", "is not of this server")
        }
        let (carried, now) = (login.carried, context.clock.now)
        let flow = call.flowSecrets(transport).first { $0.browser == carried.browser }
        guard let flow, carried.isTimely(at: now), let sealed = context.requests.seal(carried) else {
            return try await expiredPage(carried.request, call)
        }
        let visit = PageLoginRequest(
            carried: carried, sealed: sealed, transport: transport, browser: browser(call, transport))
        let title = identityVerifier?.redirectProviders.first { $0.name == login.provider }?.title ?? login.provider
        let callback = ProviderCallback(
            provider: login.provider, code: parameters["error"] == nil ? parameters["code"] : nil,
            issuer: parameters["iss"], codeVerifier: login.codeVerifier, redirectURI: providerRedirectURI,
            nonce: login.nonce, authenticatedSince: login.authenticatedSince.map { Instant(secondsSinceEpoch: $0) })
        do throws(ServiceError) {
            let response = try await rateLimiter.identity(in: call) { () async throws(ServiceError) in
                try await logIn(visit, flow, by: callback, call)
            }
            metrics.countLogin()
            return response
        } catch {
            metrics.countLogin(failing: error)
            return try await refusal(error, of: visit, provider: title, call)
        }
    }

    private func logIn(
        _ visit: PageLoginRequest, _ flow: FlowSecret, by callback: ProviderCallback, _ call: Call
    ) async throws(ServiceError) -> Response {
        guard let identityVerifier else { throw .identityRefused(.unknownProvider) }
        let request = visit.carried.request
        let identity = try await services.federation.identity(
            by: callback, of: identityVerifier, from: call.origin)
        if let hinted = request.hintedUser,
            try await services.pageLogin.owner(of: identity.key)?.description != hinted
        {
            return answer(.loginRequired, Self.otherUserText, to: request)
        }
        let name = "\(identity.key.provider)\0\(identity.key.subject)"
        try rateLimiter.admitLogin(username: name, deviceID: flow.deviceID)
        do throws(ServiceError) {
            return try await rateLimiter.session(of: name) { () async throws(ServiceError) in
                let approval = try await services.pageLogin.approve(
                    visit.carried, as: .provider(identity), in: visit.browser, from: call.origin)
                return answer(approval, to: request, visit.transport)
            }
        } catch .secondFactor(.required(var demand)) {
            demand.loginToken = context.requests.seal(identity, in: flow.deviceID, at: context.clock.now)
            throw .secondFactor(.required(demand))
        }
    }
}

extension Route {
    static let goToProvider = Route(
        .get, "/login/provider", errorFormat: .page, .open { try await $0.goToProvider($1) },
        Operation(
            "goToProvider", .loginPage, "Go to an identity provider",
            """
            The link of the page to a provider of `login_methods`, or to any if these are absent. Stores \
            nothing: the browser carries the state, sealed. A request of another browser leads to the login \
            page.
            """,
            parameters: ["name.provider", "r"],
            answers: [
                .page(200, "The request has expired: a page for people."),
                .redirect("To the provider, or to the login page."), .unknownRequest,
                .page(422, "The provider cannot be reached: the login page says so."),
            ]))

    static let completeProviderLogin = Route(
        .get, Endpoints.providerCallbackPath, errorFormat: .page, .open { try await $0.completeProviderLogin($1) },
        Operation(
            "completeProviderLogin", .loginPage, "Come back from an identity provider",
            """
            The redirect URI of this server at identity providers. The answer has to come in the browser that \
            was sent there.
            """,
            parameters: ["state.callback", "code.callback", "error", "iss"],
            answers: [
                .page(200, "The request has expired, or is one of another browser: a page for people."),
                .redirect("To the client, with the answer."), .page(400, "The state is not one of this server."),
                .page(403, "Logins are disabled."),
                .page(422, "The provider did not confirm the user: the login page says so."),
                .tooManyAttempts,
            ]))
}
