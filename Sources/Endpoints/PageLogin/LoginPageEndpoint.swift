internal import Cryptography
internal import HTTP
internal import OAuth
internal import Pages
internal import Sessions

/// A request for the login page, with what the browser has shown.
struct PageLoginRequest: Sendable {
    var carried: CarriedRequest
    /// The sealed request, as the page sent it.
    let sealed: String
    let transport: PageTransport
    var browser: PageLoginService.Browser
    /// The sealed first step of a login, to which the form brings the second factor.
    var loginToken: String?
}

/// A form of the login page.
enum PageLoginSubmission: Sendable {
    /// A form of the same browser, for a way to log in that the client allows.
    case form(PageLoginRequest, FlowSecret, FormParameters)
    /// Nothing was decided; the browser sees a page.
    case page(Response)
}

/// The login page.
extension Endpoints {
    /// `GET /login?r=`: decides what the browser sees next for the sealed request. This call alone binds a request to the
    /// browser's flow cookie, or to a new one, which is no weaker than opening the link of the authorization endpoint again.
    func showLogin(_ call: Call) async throws -> Response {
        let parameters = call.query
        var visit = try visit(call, parameters["r"], isKept: nil)
        guard visit.carried.isTimely(at: context.clock.now) else {
            return try await expiredPage(visit.carried.request, call)
        }
        let request = visit.carried.request
        let isAgain = request.isOfAccountPages && request.demandsLogin
        let message: LoginPage.Message? = request.pending != nil ? .signInToFinish : isAgain ? .signInAgain : nil
        if parameters["account"] == "none" { visit.carried.isForOther = true }
        if visit.carried.isForOther == true {
            return try await loginPage(visit, username: isAgain ? "" : request.loginHint ?? "", message, call)
        }
        let choice = try await services.pageLogin.choice(for: request, in: visit.browser)
        return try await loginPage(visit, username: request.loginHint, message, choice: choice, call)
    }

    /// The name of the user of the browser's session, if it is one that logs in beside the password; nil without one, or if
    /// another name was typed or named by the client.
    private func knownName(
        _ visit: PageLoginRequest, _ login: PageRegistration, typed: String?
    ) async throws(ServiceError) -> String? {
        guard let user = try await services.pageLogin.knownUser(for: visit.carried.request, in: visit.browser),
            let name = login.loginNames == .email
                ? user.profile.isEmailVerified ? user.profile.email : nil : user.shownUsername
        else { return nil }
        return [nil, name].contains(typed) ? name : nil
    }

    /// `POST /login/password`: logs the user in, and answers the client with a code.
    func logInOnPage(_ call: Call) async throws -> Response {
        let (visit, flow, form): (PageLoginRequest, FlowSecret, FormParameters)
        switch try await submission(call, to: .loginPassword, .password) {
        case .page(let response): return response
        case .form(let sentVisit, let sentFlow, let sentForm): (visit, flow, form) = (sentVisit, sentFlow, sentForm)
        }
        guard let username = form["username"], let password = form["password"] else {
            return try await loginPage(visit, username: form["username"], .wrongCredentials, call)
        }
        do throws(ServiceError) {
            return try await logIn(
                visit, flow, username: username, password: password, canMakePasskeys: form["offer"] == "1", call)
        } catch {
            metrics.countLogin(failing: error)
            return try await refusal(error, of: visit, username: username, call)
        }
    }

    /// `POST /login/account`: answers the client by the session of the browser, whose account the user has chosen.
    func continueOnPage(_ call: Call) async throws -> Response {
        let visit: PageLoginRequest
        switch try await submission(call, to: .loginAccount, nil) {
        case .page(let response): return response
        case .form(let sentVisit, _, _): visit = sentVisit
        }
        var carried = visit.carried
        carried.request = carried.request.chosen
        do throws(ServiceError) {
            if let approval = try await services.pageLogin.reuse(carried, in: visit.browser, from: call.origin) {
                return answer(approval, to: carried.request, visit.transport)
            }
        } catch { return try await refusal(error, of: visit, call) }
        return try await loginPage(visit, username: nil, .signInAgain, call)
    }

    /// Reads a form of the login page, and checks that it comes from the page, from the browser in which the page was shown, and
    /// that the page offers `method`; nil: it is the browser's session.
    func submission(
        _ call: Call, to path: PagePath, _ method: Client.LoginMethod?
    ) async throws -> PageLoginSubmission {
        try checkOrigin(call)
        let form = try call.form()
        let hasBox = path == .loginPassword || path == .loginPasskey || path == .loginFactor
        let visit = try visit(call, form["r"], isKept: hasBox ? form["remember"] == "1" : nil)
        guard visit.carried.isTimely(at: context.clock.now) else {
            return .page(try await expiredPage(visit.carried.request, call))
        }
        let flow = call.flowSecrets(visit.transport).first { $0.browser == visit.carried.browser }
        let request = visit.carried.request
        let login =
            request.isOfAccountPages
            ? PageRegistration.ofAccountPages : try await services.pageLogin.client(request.clientID)?.page
        guard let flow, flow.isToken(form["csrf"], of: path.text, subject(path, visit.sealed, visit.transport, call)),
            let login,
            method.map({ login.offers($0, for: request) }) ?? (path == .loginFactor || request.demandsChoice)
        else {
            // The page is older than the cookie or than the client's methods, or the browser has lost the cookie.
            let choice =
                path == .loginAccount ? try await services.pageLogin.choice(for: request, in: visit.browser) : nil
            let stale = call.staleness(of: form, visit.transport)
            return .page(try await loginPage(visit, username: form["username"], .stale(stale), choice: choice, call))
        }
        return .form(visit, flow, form)
    }

    /// What the token of a form is made for: the request, and the session of the chosen account, because the browser may have
    /// another one when the form comes.
    private func subject(_ path: PagePath, _ sealed: String, _ transport: PageTransport, _ call: Call) -> String {
        guard path == .loginAccount, let handle = browserHandle(call, transport) else { return sealed }
        return "\(sealed) \(handle.id)"
    }

    /// Reads the sealed request and the cookies.
    ///
    /// - Parameter isKept: whether the box of the form is ticked; nil: a form without it, or none.
    func visit(_ call: Call, _ sealed: String?, isKept: Bool?) throws -> PageLoginRequest {
        guard let transport = call.transport else { throw RequestProblem.needsTLS }
        guard let sealed, let carried = context.requests.open(sealed) else {
            throw RequestProblem.invalid("r", "is not a request of this server")
        }
        // A form with another box is another form: the session of the browser that the first one began is not what it asks for.
        return PageLoginRequest(
            carried: carried, sealed: sealed, transport: transport,
            browser: browser(call, transport, isKept: isKept, form: isKept == true ? sealed + " kept" : sealed))
    }

    /// Logs a user in by password, with the limits of the other logins, and answers the client.
    private func logIn(
        _ visit: PageLoginRequest, _ flow: FlowSecret, username: String, password: String, canMakePasskeys: Bool,
        _ call: Call
    ) async throws(ServiceError) -> Response {
        let request = visit.carried.request
        try rateLimiter.admitLogin(username: username, deviceID: flow.deviceID)
        let device = Device(id: flow.deviceID)
        let client = try await services.pageLogin.client(request.clientID)
        let response = try await rateLimiter.password(in: call) { () async throws(ServiceError) in
            let user = try await services.login.user(
                named: username, by: client?.page.loginNames ?? .both, password: password, on: device,
                for: request.clientID, from: call.origin)
            try rateLimiter.admitLogin(as: user, named: username, deviceID: flow.deviceID)
            if let hinted = request.hintedUser, hinted != user.id.description {
                return answer(.loginRequired, Self.otherUserText, to: request)
            }
            return try await naming(loginTokenOf: user, request, flow) { () async throws(ServiceError) in
                if request.isOfAccountPages {
                    return try await openAccountPages(as: .password(of: user), visit, flow, call)
                }
                if canMakePasskeys,
                    let offer = try await passkeyOffer(to: user, visit, flow, as: .password(of: user), call)
                {
                    return offer
                }
                let approval = try await services.pageLogin.approve(
                    visit.carried, as: .password(of: user), in: visit.browser, from: call.origin)
                return answer(approval, to: request, visit.transport)
            }
        }
        metrics.countLogin()
        return response
    }

    /// Runs the second half of a login of that user, and adds the sealed first step to what it demands.
    private func naming(
        loginTokenOf user: User, _ request: AuthorizationRequest, _ flow: FlowSecret,
        _ body: () async throws(ServiceError) -> Response
    ) async throws(ServiceError) -> Response {
        do throws(ServiceError) {
            return try await rateLimiter.session(of: user.username, body)
        } catch .secondFactor(.required(var demand)) {
            demand.loginToken = services.login.loginToken(of: user, in: request.clientID, on: flow.deviceID)
            throw .secondFactor(.required(demand))
        }
    }

    /// What the browser sees after a login that failed.
    ///
    /// - Parameter provider: the name to show of the identity provider of the login.
    func refusal(
        _ error: ServiceError, of visit: PageLoginRequest, username: String? = nil, provider: String? = nil,
        _ call: Call
    ) async throws -> Response {
        let message: LoginPage.Message
        let isOfApp = !visit.carried.request.isOfAccountPages
        switch error {
        case .secondFactor(let refusal):
            if let page = try await factorPage(refusal, of: visit, call) { return page }
            message = .secondFactorNeeded
        case .tooManyRequests(let wait) where visit.loginToken != nil:
            let seconds = Self.seconds(of: wait)
            let shown = try await factorPage(
                visit, visit.loginToken ?? "", nil, .tooManyAttempts(seconds: seconds), call)
            return page(shown, after: error)
        case .passkeyRefused: message = .passkeyFailed
        case .identityRefused, .identityProviderUnavailable, .conflict:
            guard let provider else { throw error }
            message = .providerFailed(provider)
        case .invalidCredentials: message = .wrongCredentials
        case .loginRefused(.loginDisabledByUser): message = .loginsPaused
        case .loginRefused: message = .loginsBlocked
        case .tooManyRequests(let wait): message = .tooManyAttempts(seconds: Self.seconds(of: wait))
        case .store(.unavailable), .overloaded, .passwordQueueFull: message = .unavailable
        case .requestSpent where isOfApp, .unauthorizedClient where isOfApp, .grantMissing where isOfApp,
            .loginMethodRefused where isOfApp:
            return answer(to: error, of: visit.carried.request)
        default: throw error
        }
        log(error, message.status, call)
        return page(try await loginPage(visit, username: username, message, call), after: error)
    }

    /// The page for the request, bound to the flow cookie of the browser, or to a new one.
    ///
    /// - Parameters:
    ///   - username: what was typed; nil: nothing yet.
    ///   - choice: the account of the browser's session, which the user may choose.
    func loginPage(
        _ visit: PageLoginRequest, username: String?, _ message: LoginPage.Message?, choice: String? = nil, _ call: Call
    ) async throws -> Response {
        let request = visit.carried.request
        let browserFlow = flow(call, visit.transport)
        let flow = browserFlow.secret
        var carried = visit.carried
        carried.browser = flow.browser
        let client = request.isOfAccountPages ? nil : try await services.pageLogin.client(request.clientID)
        guard let sealed = context.requests.seal(carried), client != nil || request.isOfAccountPages else {
            throw RequestProblem.invalid("r", "is not a request of this server")
        }
        // The account pages offer what every server has.
        let login = client?.page ?? .ofAccountPages
        var form = FormState(request: sealed) {
            flow.formToken($0.text, self.subject($0, sealed, visit.transport, call))
        }
        if case .stale = message { form.isShownAgain = true }
        let isForOther = carried.isForOther == true
        let known = choice == nil && !isForOther ? try await knownName(visit, login, typed: username) : nil
        // After a further login the user stays logged in as before, unless the box says otherwise.
        let isSame = known != nil || (request.isOfAccountPages && !isForOther)
        let wasKept = isSame && browserHandle(call, visit.transport)?.isKept == true
        func account(_ name: String) -> LoginPage.RecognizedAccount {
            LoginPage.RecognizedAccount(name: name, notYou: PagePath("/login", ["r": sealed, "account": "none"]))
        }
        let page = LoginPage(
            app: try await appOrService(client, request), form: form, account: known.map(account),
            choice: choice.map(account),
            passkey: try passkeyOptions(login, carried),
            asksForPassword: login.offers(.password, for: request),
            names: LoginPage.Names(rawValue: login.loginNames.rawValue) ?? .both, username: username ?? "",
            remember: login.browserSession == .none ? nil : visit.browser.isKept ?? wasKept,
            providers: providers(login, request, sealed), offersPhone: login.offers(.phone, for: request),
            forgot: proofPath(.reset, client, request, sealed), signUp: proofPath(.signUp, client, request, sealed),
            email: proofPath(.signIn, client, request, sealed), message: message,
            isWithoutTLS: !visit.transport.isSecure)
        var response = page.response(
            message?.status ?? .ok, in: call.language(request),
            submittingTo: formTargets(request, client))
        browserFlow.set(visit.transport, on: &response)
        return response
    }
}

extension Endpoints {
    /// Leads from the login page to a page that proves a mailbox; nil if the client has none.
    private func proofPath(
        _ purpose: MailboxPurpose, _ client: Client?, _ request: AuthorizationRequest, _ sealed: String
    ) -> PagePath? {
        let isForPassword = purpose != .reset || offers(.password, client, request)
        return isForPassword && takesProofs(for: purpose, of: client, request)
            ? purpose.askPath.carrying(sealed) : nil
    }

    /// The ways to log in that the page of this server can have.
    var pageMethods: [Client.LoginMethod] {
        let providers = identityVerifier?.redirectProviders ?? []
        return [.password, .phone] + (context.passkeys == nil ? [] : [.passkey]) + providers.map { .provider($0.name) }
    }

    /// Where the answer to a form of this request goes, and where it leads on.
    func formTargets(_ request: AuthorizationRequest, _ client: Client?) -> [PageURL] {
        ([request.redirectURI] + (client?.page.redirectHops ?? [])).compactMap { PageURL(absolute: $0) }
    }

    /// The browser of a request to a page.
    func browser(
        _ call: Call, _ transport: PageTransport, isKept: Bool? = nil, form: String? = nil
    ) -> PageLoginService.Browser {
        PageLoginService.Browser(
            userAgent: call.userAgent, handle: browserHandle(call, transport), isKept: isKept, form: form)
    }

    /// The handle of the browser's session in its cookie.
    func browserHandle(_ call: Call, _ transport: PageTransport) -> BrowserHandle? {
        call.cookies(PageCookie.session.name(transport)).lazy.compactMap { self.services.pageLogin.handle($0) }.first
    }

    /// The code as the answer to a request. The cookie of the browser's session is sent anew, because its end has moved; its
    /// value stays, so that a lost answer strands nobody.
    func answer(
        _ approval: PageLoginService.Approval, to request: AuthorizationRequest, _ transport: PageTransport
    ) -> Response {
        var response = answer(code: approval.code, to: request)
        if let handle = approval.handle {
            setSession(handle, idle: approval.idle, transport, on: &response)
        }
        return response
    }

    /// The refusal of a login as the answer to its request.
    func answer(to error: ServiceError, of request: AuthorizationRequest) -> Response {
        switch error {
        case .requestSpent: answer(.invalidRequestURI, Self.spentText, to: request)
        case .unauthorizedClient, .grantMissing, .loginMethodRefused:
            answer(.unauthorizedClient, "The client may not use the login page.", to: request)
        case .store(.unavailable), .overloaded, .passwordQueueFull:
            answer(.temporarilyUnavailable, Self.unavailableText, to: request)
        default: answer(.serverError, Self.internalText, to: request)
        }
    }
}

extension Call {
    /// The parameters of the URL; none if they cannot be read.
    var query: AuthorizationParameters { AuthorizationParameters((try? request.queryItems()) ?? []) }

    /// The secrets in the flow cookies. There can be several, with different paths.
    func flowSecrets(_ transport: PageTransport) -> [FlowSecret] {
        cookies(PageCookie.flow.name(transport)).compactMap { FlowSecret($0) }
    }

    /// The `User-Agent`, cut to the length that is stored, without control characters; nil if it is absent.
    var userAgent: String? {
        guard let text = request.fields.first("User-Agent") else { return nil }
        let cut = String(decoding: text.utf8.prefix(PageLogin.userAgentLengthMax), as: UTF8.self)
        return Text.isValid(cut, lengthMax: PageLogin.userAgentLengthMax + 3) ? cut : nil
    }
}

extension Route {
    static let showLogin = Route(
        .get, "/login", errorFormat: .page, .open { try await $0.showLogin($1) },
        Operation(
            "showLogin", .loginPage, "The login page",
            """
            Shows the page for a request of `/oauth/authorize`, for one hour. Sets the cookie \
            `__Host-sojourn-flow`, which opens nothing.
            """,
            parameters: ["r"],
            answers: [
                .page, .redirect("To the account page that made the request, which has expired and is made anew."),
                .unknownRequest,
            ]))

    static let logInOnPage = Route(
        .post, "/login/password", errorFormat: .page, .open { try await $0.logInOnPage($1) },
        Operation(
            "logInOnPage", .loginPage, "Take the form of the page",
            """
            For the page alone: the form needs the page's token and the browser's cookie, and comes from this \
            origin. With `browser_session` of the client, sets the cookie `__Host-sojourn-session`.
            """,
            takes: .form,
            answers: [
                .page, .redirect("To the client, with the answer."), .unknownRequest,
                .page(403, "The form comes from another site, or logins are disabled."),
                .page(422, "The name or the password is wrong."), .tooManyAttempts,
            ]))

    static let continueOnPage = Route(
        .post, "/login/account", errorFormat: .page, .open { try await $0.continueOnPage($1) },
        Operation(
            "continueOnPage", .loginPage, "Go on with the account of the browser's session",
            """
            For the page alone, after a request with `prompt=select_account` that the session of the browser can \
            answer: the form needs the page's token and the browser's cookie, and comes from this origin. Sets \
            the cookie `__Host-sojourn-session` anew.
            """,
            takes: .form,
            answers: [
                .page, .redirect("To the client, with the answer."), .unknownRequest,
                .page(403, "The form comes from another site, or logins are disabled."),
            ]))
}
