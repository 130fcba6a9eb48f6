internal import Cryptography
internal import HTTP
internal import OAuth
internal import Pages
internal import QRCode
internal import Sessions

/// A request for the page of a login with the phone, from the browser in which the login began.
struct PhonePageRequest: Sendable {
    let visit: PageLoginRequest
    let flow: FlowSecret
    let login: PhoneLogin
}

/// The login with the phone on the login page. The page shows a code that a phone scans, then a number that the user types
/// there. It learns nothing of the user before the phone has approved.
extension Endpoints {
    /// `POST /login/phone`: begins a login, and leads to its page.
    func startPhoneLogin(_ call: Call) async throws -> Response {
        let (visit, flow): (PageLoginRequest, FlowSecret)
        switch try await submission(call, to: .loginPhone, .phone) {
        case .page(let response): return response
        case .form(let sentVisit, let sentFlow, _): (visit, flow) = (sentVisit, sentFlow)
        }
        let request = visit.carried.request
        var opening = PhoneLoginService.Opening(.authorize, clientID: request.clientID)
        opening.scope = request.scope.flatMap { Scope($0) }
        opening.resources = request.resources
        opening.userAgent = call.userAgent
        opening.browser = flow.hash
        opening.device = knownDevice(call, visit.transport)
        opening.authorization = request
        do throws(ServiceError) {
            try rateLimiter.admitPhoneLogin(from: call.caller)
            let opened = try await services.phoneLogins.open(opening, from: call.origin)
            return redirect(to: Self.phonePath(opened.login.id, visit.sealed))
        } catch {
            return try await refusal(error, of: visit, call)
        }
    }

    /// `GET /login/phone/{id}?r=`: the page of a login, as it stands.
    func showPhonePage(_ call: Call) async throws -> Response {
        switch try await phoneVisit(call, call.query["r"]) {
        case .failure(let response): return response.response
        case .success(let phone): return try await phonePage(phone, call)
        }
    }

    /// `POST /login/phone/{id}/finish`: answers the client with a code, once the phone has approved. A login by a link is
    /// finished by `/login/return` alone.
    func finishPhoneLogin(_ call: Call) async throws -> Response {
        try checkOrigin(call)
        let form = try call.form()
        let phone: PhonePageRequest
        switch try await phoneVisit(call, form["r"]) {
        case .failure(let response): return response.response
        case .success(let found): phone = found
        }
        let path = Self.phonePath(phone.login.id).appending("finish")
        guard phone.flow.isToken(form["csrf"], of: path.text, phone.visit.sealed),
            PhonePage.State(of: phone.login) == .approved
        else { return redirect(to: Self.phonePath(phone.login.id, phone.visit.sealed)) }
        return try await collect(phone, call)
    }

    /// `GET /login/return?l=&t=`: where the app leads the browser after it was opened by a link of the page. It finishes the
    /// login only in the browser in which that began, and with the token that only the phone has got: a link that was sent
    /// to somebody else signs nobody in.
    func returnFromPhone(_ call: Call) async throws -> Response {
        guard let transport = call.transport else { throw RequestProblem.needsTLS }
        let query = call.query
        guard let id = query["l"].flatMap({ Identifier<Session>($0) }), !query.repeats("l"), !query.repeats("t"),
            services.phoneLogins.isReturnToken(query["t"] ?? "", of: id),
            let (flow, login) = try await phoneLogin(id, call, transport),
            let request = login.request.authorization
        else { return OtherBrowserPage().response(.forbidden, in: call.language()) }
        let carried = CarriedRequest(request, browser: flow.browser, at: context.clock.now)
        guard let sealed = context.requests.seal(carried) else {
            throw RequestProblem.invalid("l", "is not a login of this page")
        }
        let visit = PageLoginRequest(
            carried: carried, sealed: sealed, transport: transport, browser: browser(call, transport))
        return try await collect(PhonePageRequest(visit: visit, flow: flow, login: login), isReturned: true, call)
    }

    /// `GET /l/{code}`: a camera or a browser without the app has opened a code. Nothing is looked up, and nothing happens.
    func explainPhoneLink(_ call: Call) throws -> Response { LinkPage().response(.ok, in: call.language()) }

    /// `GET /e/{code}`: a camera or a browser without the app has opened an invitation. Nothing is looked up, and nothing happens.
    func explainInvitation(_ call: Call) throws -> Response { InvitationPage().response(.ok, in: call.language()) }

    /// Fetches what the login has brought, and answers the client.
    private func collect(_ phone: PhonePageRequest, isReturned: Bool = false, _ call: Call) async throws -> Response {
        let (visit, id) = (phone.visit, phone.login.id)
        do throws(ServiceError) {
            if let hinted = visit.carried.request.hintedUser, phone.login.userID?.description != hinted {
                return answer(.loginRequired, Self.otherUserText, to: visit.carried.request)
            }
            let approval = try await services.phoneLogins.collect(
                id, visit.carried, flow: phone.flow.hash, isReturned: isReturned, in: visit.browser, from: call.origin)
            metrics.countLogin()
            var response = answer(approval, to: visit.carried.request, visit.transport)
            await remember(phone.login, in: visit, call, &response)
            return response
        } catch {
            metrics.countLogin(failing: error)
            switch error {
            case .login(.spent), .login(.otherBrowser): return try await expiredPage(visit.carried.request, call)
            case .login, .loginOver, .notFound: return redirect(to: Self.phonePath(id, visit.sealed))
            default: return try await refusal(error, of: visit, call)
            }
        }
    }
}

/// A response in place of what was looked for.
struct AnsweredOtherwise: Error {
    let response: Response
}

extension Endpoints {
    /// What the browser shows of earlier logins with a phone.
    private func knownDevice(_ call: Call, _ transport: PageTransport) -> KnownDevice {
        let cookie = call.cookies(PageCookie.known.name(transport)).first
        return cookie.map(services.phoneLogins.device(ofBrowser:)) ?? KnownDevice()
    }

    /// Lets the browser be known to the user that let it in by phone. Without it, as when the database is away for a moment,
    /// the login has succeeded all the same.
    private func remember(
        _ login: PhoneLogin, in visit: PageLoginRequest, _ call: Call, _ response: inout Response
    ) async {
        let known = knownDevice(call, visit.transport)
        guard let cookie = try? await services.phoneLogins.knownBrowser(known, after: login) else { return }
        PageCookie.known.set(cookie, lifetime: PageCookie.knownLifetime, visit.transport, on: &response)
    }

    static func phonePath(_ id: Identifier<Session>, _ sealed: String? = nil) -> PagePath {
        PagePath.loginPhone.appending(id.description, sealed.map { ["r": $0] } ?? [:])
    }

    /// Finds the login of a page and its browser. A browser in which the login did not begin goes to the login page, which alone
    /// binds requests to browsers.
    private func phoneVisit(_ call: Call, _ sealed: String?) async throws -> Result<PhonePageRequest, AnsweredOtherwise>
    {
        let visit = try visit(call, sealed, isKept: nil)
        guard visit.carried.isTimely(at: context.clock.now) else {
            return .failure(AnsweredOtherwise(response: try await expiredPage(visit.carried.request, call)))
        }
        guard let id = Identifier<Session>(call.parameter),
            let (flow, login) = try await phoneLogin(id, call, visit.transport),
            flow.browser == visit.carried.browser, login.request.authorization?.id == visit.carried.request.id
        else { return .failure(AnsweredOtherwise(response: redirect(to: .loginPage(visit.sealed)))) }
        return .success(PhonePageRequest(visit: visit, flow: flow, login: login))
    }

    /// The login with that id, if it began in the browser of the call, and the secret of the browser; nil otherwise.
    func phoneLogin(
        _ id: Identifier<Session>, _ call: Call, _ transport: PageTransport
    ) async throws(ServiceError) -> (flow: FlowSecret, login: PhoneLogin)? {
        for flow in call.flowSecrets(transport) {
            do throws(ServiceError) {
                return (flow, try await services.phoneLogins.look(at: id, as: .browser(flow.hash)))
            } catch {
                guard case .notFound = error else { throw error }
            }
        }
        return nil
    }

    private func phonePage(_ phone: PhonePageRequest, _ call: Call) async throws -> Response {
        let (visit, flow, login) = (phone.visit, phone.flow, phone.login)
        let request = visit.carried.request
        let here = Self.phonePath(login.id)
        let client = try await services.pageLogin.client(request.clientID)
        let page = PhonePage(
            app: client.map { app($0, request) },
            form: FormState(request: visit.sealed) { flow.formToken($0.text, visit.sealed) },
            image: QRLibrary.problem == nil ? here.appending("code.svg") : nil,
            link: PageURL(absolute: phoneLink(login, .link)), state: PhonePage.State(of: login),
            number: login.number.map { String($0) }, events: here.appending("events"),
            again: Self.phonePath(login.id, visit.sealed),
            finish: here.appending("finish"), otherWays: .loginPage(visit.sealed))
        return page.response(.ok, in: call.language(request), submittingTo: formTargets(request, client))
    }

    /// What a picture or a link of the login says now. A picture has capitals only, which take less room in it.
    func phoneLink(_ login: PhoneLogin, _ kind: PhoneLoginCode.Kind) -> String {
        if kind == .picture { return services.phoneLogins.link(of: login, kind) }
        return context.url("/l/\(services.phoneLogins.code(of: login, kind))")
    }
}

extension PhonePage.State {
    /// What the page of a login shows.
    init(of login: PhoneLogin) {
        let isLinked = login.claim?.arrival == .linked
        let seen: Self = isLinked ? .opened : .scanned
        let shown: Self = isLinked || login.number == nil ? seen : .number
        self =
            switch login.state {
            case .requested: .waiting
            case .claimed: seen
            case .confirming: shown
            case .proving: !isLinked && login.isNumberConfirmed ? .confirmed : shown
            case .approved: isLinked ? .opened : .approved
            case .signedIn: .finished
            case .ended(let ending): Self(ending)
            }
    }

    private init(_ ending: PhoneLogin.Ending) {
        self =
            switch ending.cause {
            case nil: .finished
            case .denied, .canceled: .cancelled
            case .timedOut, .notCollected: .timedOut
            case .wrongNumber: .wrongNumber
            case .contested: .contested
            case .secondFactorFailed, .fault, .parentEnded, .presenceLost, .ended:
                ending.outcome == .signedOut ? .finished : .failed
            }
    }
}

extension Route {
    static let startPhoneLogin = Route(
        .post, "/login/phone", errorFormat: .page, .open { try await $0.startPhoneLogin($1) },
        Operation(
            "startPhoneLogin", .loginPage, "Use the phone",
            """
            For the page alone, where `login_methods` of the client has `phone`: the form needs the page's token \
            and the browser's cookie, and comes from this origin. Opens a login and leads to its page, which \
            shows a code for three minutes.
            """,
            takes: .form,
            answers: [
                .page, .redirect("To the page of the login."), .unknownRequest,
                .page(429, "Too many logins were asked for from this address."),
            ]))

    static let showPhonePage = Route(
        .get, "/login/phone/{id}", errorFormat: .page, .open { try await $0.showPhonePage($1) },
        Operation(
            "showPhonePage", .loginPage, "The page of a login with the phone",
            """
            Shows a code to scan, then the number to type on the phone, then the end. Only the browser in which \
            the login began sees it.
            """,
            parameters: ["id.phone", "r"],
            answers: [
                .page, .redirect("To the login page: the login began in another browser, or is gone."), .unknownRequest,
            ]))

    static let finishPhoneLogin = Route(
        .post, "/login/phone/{id}/finish", errorFormat: .page, .open { try await $0.finishPhoneLogin($1) },
        Operation(
            "finishPhoneLogin", .loginPage, "Go on after the approval",
            """
            Answers the client with a code, once the phone has approved. A login by a link is finished by \
            `/login/return` alone.
            """,
            takes: .form, parameters: ["id.phone"],
            answers: [
                .page, .redirect("To the client, with the answer, or back to the page of the login."), .unknownRequest,
                .page(422, "A page for people."), .tooManyAttempts,
            ]))

    static let returnFromPhone = Route(
        .get, "/login/return", errorFormat: .page, .open { try await $0.returnFromPhone($1) },
        Operation(
            "returnFromPhone", .loginPage, "Come back from the app",
            """
            Where the app leads the browser of its own device after a login by a link (`return_url` of the \
            login). Only the browser in which the login began gets in, with the token that only the phone has \
            got.
            """,
            parameters: ["l", "t.phone"],
            answers: [
                .page, .redirect("To the client, with the answer, or back to the page of the login."), .unknownRequest,
                .page(403, "The login began in another browser, or is over."), .page(422, "A page for people."),
                .tooManyAttempts,
            ]))

    static let explainPhoneLink = phoneLink("/l/{code}", "explainPhoneLink")
    /// A picture has capitals, because they need fewer dots.
    static let explainPhoneCode = phoneLink("/L/{code}", "explainPhoneCode")
    static let explainInvitation = invitation("/e/{code}", "explainInvitation", "An invitation without the app")
    static let explainInvitationInCapitals = invitation(
        "/E/{code}", "explainInvitationInCapitals", "An invitation without the app, in capitals")

    private static func phoneLink(_ pattern: String, _ id: String) -> Route {
        Route(
            .get, pattern, errorFormat: .page, .open { try $0.explainPhoneLink($1) },
            Operation(
                id, .loginPage, "A code without the app",
                """
                What a camera or a browser shows that has opened a code of a login: it explains, looks nothing up, \
                and approves nothing.
                """,
                answers: [.page]))
    }

    private static func invitation(_ pattern: String, _ id: String, _ summary: String) -> Route {
        Route(
            .get, pattern, errorFormat: .page, .open { try $0.explainInvitation($1) },
            Operation(
                id, .loginPage, summary,
                """
                What a camera or a browser shows that has opened the code of an invitation: it explains, looks \
                nothing up, and makes no account.
                """,
                answers: [.page]))
    }
}
