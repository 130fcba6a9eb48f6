internal import HTTP
internal import OAuth
internal import Pages
internal import QRCode
internal import Sessions

/// The second step of a login on the page.
extension Endpoints {
    /// `POST /login/factor`: takes the code beside the sealed first step, and answers the client.
    func takeFactorOnPage(_ call: Call) async throws -> Response {
        let (sent, flow, form): (PageLoginRequest, FlowSecret, FormParameters)
        switch try await submission(call, to: .loginFactor, nil) {
        case .page(let response): return response
        case .form(let sentVisit, let sentFlow, let sentForm): (sent, flow, form) = (sentVisit, sentFlow, sentForm)
        }
        guard let token = form[.loginToken], let text = form[.code], text.utf8.count <= SecondFactorCode.lengthMax
        else { return try await loginPage(sent, username: nil, .signInAgain, call) }
        var visit = sent
        visit.browser.code = services.secondFactors.code(text)
        visit.loginToken = token
        do throws(ServiceError) {
            let response = try await continueLogin(visit, flow, token, call)
            metrics.countLogin()
            return response
        } catch {
            metrics.countLogin(failing: error)
            if case .invalid(member: "login_token", _) = error {
                return try await loginPage(visit, username: nil, .signInAgain, call)
            }
            return try await refusal(error, of: visit, call)
        }
    }

    private func continueLogin(
        _ visit: PageLoginRequest, _ flow: FlowSecret, _ token: String, _ call: Call
    ) async throws(ServiceError) -> Response {
        let request = visit.carried.request
        let authentication: PageLoginService.Authentication
        let (name, method): (String, Client.LoginMethod)
        if let identity = context.requests.openIdentity(token, in: flow.deviceID) {
            authentication = .provider(identity)
            name = "\(identity.key.provider)\0\(identity.key.subject)"
            method = .provider(identity.key.provider)
        } else if let handle = mailProof(token, in: flow) {
            let proof = try await services.verifications.proof(handle)
            authentication = .email(proof)
            (name, method) = ("email\0\(proof.verification.id)", .email)
        } else {
            let user = try await services.login.user(
                continuing: token, in: request.clientID, on: flow.deviceID)
            (authentication, name, method) = (.password(of: user), user.username, .password)
        }
        // The first step may be that of another request, or older than the client's methods.
        let login =
            request.isOfAccountPages
            ? PageRegistration.ofAccountPages : try await services.pageLogin.client(request.clientID)?.page
        guard let login, login.offers(method, for: request) else { throw .unauthorizedClient }
        return try await rateLimiter.session(of: name) { () async throws(ServiceError) in
            if request.isOfAccountPages {
                return try await openAccountPages(as: authentication, visit, flow, call)
            }
            let approval = try await services.pageLogin.approve(
                visit.carried, as: authentication, in: visit.browser, from: call.origin)
            return answer(approval, to: request, visit.transport)
        }
    }

    /// The proof of a mailbox by which a login began in this browser; nil: it began in another way.
    private func mailProof(_ token: String, in flow: FlowSecret) -> VerificationHandle? {
        guard let carried = context.requests.openVerification(token), carried.browser == flow.browser,
            carried.purpose == Verification.Purpose.signIn.rawValue, let id = Identifier<Verification>(carried.id)
        else { return nil }
        return VerificationHandle(id: id, asker: VerificationAsker(browser: flow.text))
    }

    /// The page that asks for the second factor after a login that lacks it or has a wrong code; nil: the login cannot go on
    /// here.
    func factorPage(_ refusal: SecondFactorRefusal, of visit: PageLoginRequest, _ call: Call) async throws -> Response?
    {
        var token = visit.loginToken
        var demand: SecondFactorDemand?
        var message: FactorPage.Message?
        switch refusal {
        case .required(let asked):
            token = asked.loginToken ?? token
            demand = asked
        case .wrongCode(let clockDiffers): message = clockDiffers ? .clockDiffers : .wrongCode
        case .blocked: message = .blocked
        case .noWay: return nil
        }
        guard let token else { return nil }
        return try await factorPage(visit, token, demand, message, call)
    }

    /// - Parameter demand: what the first step has answered; nil: the code was typed before.
    func factorPage(
        _ visit: PageLoginRequest, _ token: String, _ demand: SecondFactorDemand?, _ message: FactorPage.Message?,
        _ call: Call
    ) async throws -> Response {
        let request = visit.carried.request
        let client = request.isOfAccountPages ? nil : try await services.pageLogin.client(request.clientID)
        let browserFlow = flow(call, visit.transport)
        let flow = browserFlow.secret
        let enrolment = demand?.enrols == true ? try await enrolment(token, request, flow) : nil
        let ways = demand?.ways ?? []
        let page = FactorPage(
            app: client.map { app($0, request) },
            form: FormState(request: visit.sealed) { flow.formToken($0.text, visit.sealed) }, loginToken: token,
            remember: visit.browser.isKept, enrolment: enrolment,
            passkey: ways.contains(.passkey) ? .loginPage(visit.sealed) : nil,
            takesCode: demand?.enrols ?? true || ways.contains(.totp), message: message)
        var response = page.response(
            message == nil ? .ok : .unprocessable, in: call.language(request),
            submittingTo: formTargets(request, client))
        browserFlow.set(visit.transport, on: &response)
        return response
    }

    private func enrolment(
        _ token: String, _ request: AuthorizationRequest, _ flow: FlowSecret
    ) async throws -> FactorPage.Enrolment {
        let user: User
        if let identity = context.requests.openIdentity(token, in: flow.deviceID) {
            guard let id = try await services.pageLogin.owner(of: identity.key) else {
                throw ServiceError.notFound("user")
            }
            user = try await services.administration.user(.id(id))
        } else if let handle = mailProof(token, in: flow) {
            guard let id = try await services.verifications.proof(handle).verification.userID else {
                throw ServiceError.notFound("user")
            }
            user = try await services.administration.user(.id(id))
        } else {
            user = try await services.login.user(continuing: token, in: request.clientID, on: flow.deviceID)
        }
        let made = try await services.secondFactors.add(name: nil, toLoginOf: user, in: request.clientID)
        return FactorPage.Enrolment(
            secret: made.secret, code: QRMatrix(made.uri).map { QRPicture(side: $0.side, path: $0.path) })
    }
}

extension Route {
    static let takeFactorOnPage = Route(
        .post, "/login/factor", errorFormat: .page, .open { try await $0.takeFactorOnPage($1) },
        Operation(
            "takeFactorOnPage", .loginPage, "End a login with the second factor",
            """
            The page follows a login by password or at a provider that lacks its second factor. It takes the code of \
            an authenticator, or a recovery code; a user without an authenticator adds one, if the policy demands it.
            """,
            takes: .form,
            answers: [
                .page, .redirect("To the client, with the answer."), .unknownRequest,
                .page(403, "The form comes from another site, or logins are disabled."),
                .page(422, "The code is wrong, and the page asks again."), .tooManyAttempts,
            ]))
}
