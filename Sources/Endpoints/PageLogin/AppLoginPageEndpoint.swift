internal import HTTP
internal import OAuth
internal import Pages
internal import Sessions

/// The page that an app opens in a browser to sign it in: `/login/app#NONCE`, the URL of an AppLogin. No browser sends a
/// fragment, so that no log and no `Referer` has the nonce.
extension Endpoints {
    /// `GET /login/app`: the page reads the nonce in the fragment, and sends it as a form.
    func showAppLogin(_ call: Call) async throws -> Response {
        guard let transport = call.transport else { throw RequestProblem.needsTLS }
        return appLoginPage(call, transport, .opened)
    }

    /// `POST /login/app`: asks whether to sign in to the account of the nonce, which changes nothing, and then does so. The
    /// browser goes on to the page of the client that starts its login.
    func signInByApp(_ call: Call) async throws -> Response {
        guard let transport = call.transport else { throw RequestProblem.needsTLS }
        try checkOrigin(call)
        let form = try call.form()
        let (flows, path) = (call.flowSecrets(transport), PagePath.loginApp.text)
        let isAnswer = form[.request] != nil
        let typed = form[.request] ?? Self.pasted(form[.token])
        guard let nonce = typed,
            flows.contains(where: { $0.isToken(form[.csrf], of: path, isAnswer ? nonce : "") })
        else {
            return appLoginPage(call, transport, .stale(call.staleness(of: form, transport)), typed: typed ?? "")
        }
        do throws(ServiceError) {
            let visit = try await services.phoneLogins.appVisit(by: nonce)
            if let other = try await otherUser(than: visit.user, call, transport) {
                return appLoginPage(call, transport, .otherAccount(account: other), visit.client)
            }
            guard isAnswer else {
                let account = visit.user.username
                return appLoginPage(call, transport, .question(account: account), visit.client, nonce: nonce)
            }
            let (handle, idle) = try await services.phoneLogins.signIn(
                visit, in: browser(call, transport), from: call.origin)
            metrics.countLogin()
            var response = Self.redirect(to: initiation(of: visit.client))
            setSession(handle, idle: idle, transport, on: &response)
            return response
        } catch {
            if isAnswer { metrics.countLogin(failing: error) }
            switch error {
            case .invalidGrant, .login, .loginOver, .notFound:
                log(error, .unprocessable, call)
                return appLoginPage(call, transport, .tooLate, typed: isAnswer ? "" : nonce)
            default: throw error
            }
        }
    }

    /// The account of the browser's session, if it is another one than that of `user`.
    private func otherUser(
        than user: User, _ call: Call, _ transport: PageTransport
    ) async throws(ServiceError) -> String? {
        guard let handle = browserHandle(call, transport),
            let other = try await services.pageLogin.sessionToEnd(handle)?.user, other.id != user.id
        else { return nil }
        return other.username
    }

    /// The page of the client that starts its login, with the issuer (OpenID Connect Core section 4).
    private func initiation(of client: Client) -> String {
        let page = client.appLoginPage ?? url(.account)
        return page + (page.contains("?") ? "&" : "?") + "iss=\(PercentEncoding.encode(context.issuer))"
    }

    private func appLoginPage(
        _ call: Call, _ transport: PageTransport, _ state: AppLoginPage.State, _ client: Client? = nil,
        nonce: String? = nil, typed: String = ""
    ) -> Response {
        let browserFlow = flow(call, transport)
        let flow = browserFlow.secret
        var form = FormState(request: nonce) { flow.formToken($0.text, $0 == .loginApp ? nonce ?? "" : "") }
        var status = state == .tooLate ? Status.unprocessable : .ok
        if case .stale(let stale) = state { (form.isShownAgain, status) = (true, stale.status) }
        let page = AppLoginPage(app: client.map { app($0) }, form: form, state: state, typed: String(typed.prefix(200)))
        let login = client?.page
        let targets =
            (login?.initiateLoginURI.map { [$0] } ?? []) + (login?.redirectURIs ?? []) + (login?.redirectHops ?? [])
        var response = page.response(
            status, in: call.language(),
            submittingTo: targets.compactMap { PageURL(absolute: $0) })
        browserFlow.set(transport, on: &response)
        return response
    }
}

extension Route {
    static let showAppLogin = Route(
        .get, "/login/app", errorFormat: .page, .open { try await $0.showAppLogin($1) },
        Operation(
            "showAppLogin", .loginPage, "The page that an app opens to sign a browser in",
            """
            The URL of an AppLogin is `/login/app#NONCE`. A fragment is sent to no server; the page sends it as \
            a form.
            """,
            answers: [.page], errors: [.uriTooLong]))

    static let signInByApp = Route(
        .post, "/login/app", errorFormat: .page, .open { try await $0.signInByApp($1) },
        Operation(
            "signInByApp", .loginPage, "Sign a browser in by a web nonce",
            """
            For the page alone: the form needs the page's token and the browser's cookies, and comes from this \
            origin. With `token` the page asks whether to sign in to the account, and nothing has changed; its \
            answer has the nonce as `r`. A nonce is good once. A browser with the session of another user keeps \
            it.
            """,
            takes: .form,
            answers: [
                .page, .redirect("To `initiate_login_uri` of the client, with `iss`."),
                .page(409, "Another form of this browser has signed it in to another account meanwhile."),
                .page(422, "The nonce is unknown, too old or used."),
            ]))
}
