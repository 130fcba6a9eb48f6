internal import Cryptography
internal import HTTP
internal import OAuth
internal import Sessions

/// The login page.
extension Endpoints {
    private static let passwordPath = "/login/password"

    /// `GET /login?r=`: decides what the browser sees next for the sealed request. This call alone binds a request to the
    /// browser's flow cookie, or to a new one, which is no weaker than opening the link of the authorization endpoint again.
    func showLogin(_ call: Call) async throws -> Response {
        guard let transport = call.transport else { throw RequestProblem.needsTLS }
        let parameters = AuthorizationParameters((try? call.request.queryItems()) ?? [])
        guard let sealed = parameters["r"], let carried = context.requests.open(sealed) else {
            throw RequestProblem.invalid("r", "is not a request of this server")
        }
        guard carried.isTimely(at: context.clock.now) else { return try await expired(carried.request, call) }
        let cookie = call.cookies(PageCookie.flow.name(transport)).lazy.compactMap { FlowSecret($0) }.first
        let flow = cookie ?? FlowSecret(random: context.random)
        var response = try await loginPage(carried, flow, username: carried.request.loginHint, call)
        if cookie == nil { PageCookie.flow.set(flow.text, transport, on: &response) }
        return response
    }

    /// `POST /login/password`: logs the user in, and answers the client with a code.
    func logInOnPage(_ call: Call) async throws -> Response {
        guard let transport = call.transport else { throw RequestProblem.needsTLS }
        try checkOrigin(call)
        let form = try call.form()
        guard let sealed = form["r"], let carried = context.requests.open(sealed) else {
            throw RequestProblem.invalid("r", "is not a request of this server")
        }
        guard carried.isTimely(at: context.clock.now) else { return try await expired(carried.request, call) }
        let cookies = call.cookies(PageCookie.flow.name(transport)).compactMap { FlowSecret($0) }
        guard let flow = cookies.first(where: { $0.browser == carried.browser }),
            flow.isToken(form["csrf"], of: Self.passwordPath, sealed)
        else {
            // The page is older than the cookie, or the browser has lost it. Nothing was decided.
            let flow = cookies.first ?? FlowSecret(random: context.random)
            var response = try await loginPage(carried, flow, username: form["username"], message: .pressAgain, call)
            if cookies.isEmpty { PageCookie.flow.set(flow.text, transport, on: &response) }
            return response
        }
        guard let username = form["username"], let password = form["password"] else {
            return try await loginPage(carried, flow, username: form["username"], message: .wrongCredentials, call)
        }
        do throws(ServiceError) {
            return try await logIn(carried, flow, username: username, password: password, call)
        } catch {
            metrics.countLogin(failing: error)
            return try await refusal(error, of: carried, flow, username: username, call)
        }
    }

    /// Logs a user in by password, with the limits of the other logins, and answers the client.
    private func logIn(
        _ carried: CarriedRequest, _ flow: FlowSecret, username: String, password: String, _ call: Call
    ) async throws(ServiceError) -> Response {
        try rateLimiter.admitLogin(username: username, deviceID: flow.deviceID)
        let device = Device(id: flow.deviceID)
        let browser = HostedLoginService.Browser(userAgent: call.userAgent)
        let answer = try await rateLimiter.password(in: call) { () async throws(ServiceError) in
            let user = try await services.login.user(
                named: username, password: password, on: device, from: call.origin)
            if let hinted = carried.request.hintedUser, hinted != user.id.description {
                return self.answer(.loginRequired, "Another user has logged in.", to: carried.request)
            }
            return try await rateLimiter.session(of: username) { () async throws(ServiceError) in
                let code = try await services.hostedLogin.approve(
                    carried, as: .password(of: user), in: browser, from: call.origin)
                return self.answer(code: code, to: carried.request)
            }
        }
        metrics.countLogin()
        return answer
    }

    /// What the browser sees after a login that failed.
    private func refusal(
        _ error: ServiceError, of carried: CarriedRequest, _ flow: FlowSecret, username: String, _ call: Call
    ) async throws -> Response {
        let message: LoginMessage
        switch error {
        case .invalidCredentials: message = .wrongCredentials
        case .loginRefused(.loginDisabledByUser): message = .loginsPaused
        case .loginRefused: message = .loginsBlocked
        case .tooManyRequests(let wait): message = .tooManyAttempts(seconds: Int(wait / .seconds(1)) + 1)
        case .store(.unavailable), .overloaded: message = .unavailable
        case .requestSpent: return answer(.invalidRequestURI, Self.spentText, to: carried.request)
        case .unauthorizedClient:
            return answer(.unauthorizedClient, "The client may not use the login page.", to: carried.request)
        default: throw error
        }
        let problem = Self.problem(error)
        log(error, message.status, call)
        var response = try await loginPage(carried, flow, username: username, message: message, call)
        if case .tooManyAttempts(let seconds) = message { response.fields.append("Retry-After", "\(seconds)") }
        if message == .unavailable { response.fields.append("Retry-After", problem.status == 503 ? "2" : "5") }
        return response
    }

    /// The page for the request, bound to the browser with that flow cookie.
    private func loginPage(
        _ carried: CarriedRequest, _ flow: FlowSecret, username: String?, message: LoginMessage? = nil, _ call: Call
    ) async throws -> Response {
        var carried = carried
        carried.browser = flow.browser
        guard let sealed = context.requests.seal(carried),
            let client = try await services.hostedLogin.client(carried.request.clientID)
        else { throw RequestProblem.invalid("r", "is not a request of this server") }
        return render(
            LoginPageModel(
                client: client, request: carried.request, sealed: sealed,
                csrf: flow.formToken(Self.passwordPath, sealed), username: username ?? "", message: message), call)
    }

    /// The page for a request that is too old: it leads back to the client.
    private func expired(_ request: AuthorizationRequest, _ call: Call) async throws -> Response {
        throw RequestProblem.invalid("r", "has expired: begin again from the app")
    }
}

extension Call {
    /// The `User-Agent`, cut to the length that is stored, without control characters; nil if it is absent.
    var userAgent: String? {
        guard let text = request.fields.first("User-Agent") else { return nil }
        let cut = String(decoding: text.utf8.prefix(Login.userAgentLengthMax), as: UTF8.self)
        return Text.isValid(cut, lengthMax: Login.userAgentLengthMax + 3) ? cut : nil
    }
}
