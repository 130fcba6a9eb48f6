internal import Cryptography
internal import HTTP
internal import OAuth
internal import Pages
internal import Sessions

/// A user before an account page, in a browser whose session opened it.
struct AccountPageRequest: Sendable {
    let visit: AccountPageSession
    let transport: PageTransport
    let call: Call
    /// The secret of the browser, by which its forms are recognized.
    let flow: FlowSecret

    var user: User { visit.user }
    var language: PageLanguage { call.language() }

    /// What a form's token is made for beside its path: the session, so that a form of another user's page is stale.
    private func subject(_ path: PagePath) -> String {
        path == .logout ? "" : Self.subject(visit.session.id)
    }

    /// What the tokens of the forms in a session are made for.
    static func subject(_ session: Identifier<Session>) -> String { session.description }

    /// The account's name, and the hidden fields of the page's forms.
    var header: AccountHeader {
        AccountHeader(
            name: user.username,
            form: FormState { flow.formToken($0.text, subject($0)) },
            events: visit.session.authenticationMethods.contains(PhoneLogin.authenticationMethod)
                ? .accountEvents : nil,
            brand: PageApp(ofService: visit.record.settings.branding))
    }

    /// Whether `form` is that of a page which this browser was shown in this session, and goes to `path`.
    func sent(_ form: FormParameters, to path: PagePath) -> Bool {
        call.flowSecrets(transport).contains { $0.isToken(form[.csrf], of: path.text, subject(path)) }
    }

    /// The path of `page` with what the page shall say.
    func path(_ page: PagePath, saying flash: AccountFlash) -> String {
        flow.path(page, saying: flash)
    }

    /// What the URL says; nil: nothing.
    func flash(on page: PagePath) -> AccountFlash? { flow.flash(in: call.query, on: page.text) }
}

extension FormParameters {
    /// The value of a field of the pages; nil if it is missing or empty.
    subscript(_ field: FormField) -> String? { self[field.rawValue] }
}

extension Endpoints {
    /// Answers a request for `page`, or a form that belongs to it, for the user of the browser's session. Without a session the
    /// browser goes to the login page first, and then to `page`; the form of `act` is taken then. While the user's own switch is
    /// on, there is the page of the switch alone.
    func account(
        _ call: Call, _ page: PagePath, act: AccountAct? = nil, _ body: (AccountPageRequest) async throws -> Response
    ) async throws -> Response {
        guard let transport = call.transport else { throw RequestProblem.needsTLS }
        if call.request.method == .post { try checkOrigin(call) }
        guard let handle = browserHandle(call, transport),
            let visit = try await services.pageLogin.accountVisit(handle)
        else { return try await logInForAccount(goingTo: page, act, transport, call) }
        if visit.isPaused, page != .accountSecurity {
            return redirect(to: .accountSecurity)
        }
        if call.request.method == .post { try visit.session.refuseOnProbation(at: context.clock.now) }
        let flow = flow(call, transport)
        let stay = AccountPageRequest(visit: visit, transport: transport, call: call, flow: flow.secret)
        var response: Response
        do throws(any Error) { response = try await body(stay) } catch {
            // The session has ended, or has grown too old for the act, since it was read.
            switch error {
            case ServiceError.invalidToken: return try await logInForAccount(goingTo: page, act, transport, call)
            case ServiceError.insufficientUserAuthentication:
                return try logInForAccount(goingTo: stay.path(page, saying: AccountFlash(.again)), as: stay.user)
            default: throw error
            }
        }
        flow.set(transport, on: &response)
        if handle.isKept { setSession(handle, idle: visit.idle, transport, on: &response) }
        return response
    }

    /// Leads to the login page, because the act demands an authentication of the last minutes. The act is done after that. One
    /// that is too long for the request is not, and its page asks to press once more.
    func logInAgain(_ stay: AccountPageRequest, toFinish act: AccountAct, _ form: FormParameters) throws -> Response {
        let page = act.page(of: form)
        let pending = PendingForm(act, form, of: stay.user.id)
        let response = try? logInForAccount(goingTo: page.text, as: stay.user, pending)
        return try response ?? logInForAccount(goingTo: stay.path(page, saying: AccountFlash(.again)), as: stay.user)
    }

    /// Leads from an ended session of a browser to the login page, and then to a page of the account. A form of that session
    /// is taken after the login of its user.
    private func logInForAccount(
        goingTo page: PagePath, _ act: AccountAct?, _ transport: PageTransport, _ call: Call
    ) async throws -> Response {
        if let act, let handle = browserHandle(call, transport), let form = try? call.form(),
            call.flowSecrets(transport).contains(where: {
                $0.isToken(form[.csrf], of: act.path.text, AccountPageRequest.subject(handle.id))
            }), let userID = try await services.pageLogin.user(of: handle),
            let response = try? logInForAccount(goingTo: page.text, PendingForm(act, form, of: userID))
        {
            return response
        }
        return try logInForAccount(goingTo: page.text)
    }

    /// Leads to the login page, and then to a page of the account.
    ///
    /// - Parameters:
    ///   - user: the user of the login that is asked for; nil: every user.
    ///   - pending: the form that is taken after the login.
    private func logInForAccount(
        goingTo path: String, as user: User? = nil, _ pending: PendingForm? = nil
    ) throws -> Response {
        var request = AuthorizationRequest(
            ofAccountPage: context.url(path), id: Hex.encode(context.random.bytes(16)))
        if let user {
            request.prompts = [.login]
            request.loginHint = user.shownUsername
        }
        request.pending = pending
        guard let sealed = context.requests.seal(CarriedRequest(request, at: context.clock.now)) else {
            throw RequestProblem.invalid("r", "is too long")
        }
        return redirect(to: .loginPage(sealed))
    }

    /// Leads to a page of the account after an act (303), which then says what was done.
    func redirect(_ stay: AccountPageRequest, to page: PagePath, saying flash: AccountFlash) -> Response {
        Self.redirect(to: context.url(stay.path(page, saying: flash)))
    }

    /// Leads from a session that the user has just ended to the page that says so. That page deletes the cookie, by which it knows
    /// what has ended.
    func leaveAccount() -> Response { redirect(to: .logout) }

    static let changePasswordPath = "/.well-known/change-password"

    /// `GET /.well-known/change-password` (W3C, A Well-Known URL for Changing Passwords): leads to the page of the password.
    func changePasswordPage() -> Response {
        Response(
            status: .found,
            fields: ["Location": url(.accountSecurity), "Cache-Control": "no-store"])
    }
}

/// What the pages of an account say after an act.
enum AccountWord: String {
    case again
    case passkeyAddNow = "add-now"
    case passwordSaved = "password"
    case paused
    case resumed
    case passkeyRenamed = "renamed"
    case passkeyRemoved = "removed"
    case passkeyAdded = "added"
    case factorAdded = "factor-added"
    case factorRemoved = "factor-removed"
    case gone
    case profileSaved = "profile"
    case mailboxChanged = "mailbox"
    /// The account is deleted, or will be at that time, in seconds since 1970.
    case deleted
    /// So many devices were signed out.
    case ended
}

/// What a page of an account says once.
typealias AccountFlash = Flash<AccountWord>

/// The account page of a login, in place of an app.
extension Endpoints {
    /// Opens the account pages after a login, and does the act that had asked for it.
    func openAccountPages(
        as authentication: PageLoginService.Authentication, _ visit: PageLoginRequest, _ flow: FlowSecret, _ call: Call
    ) async throws(ServiceError) -> Response {
        let request = visit.carried.request
        let (handle, idle) = try await services.pageLogin.openAccountPages(
            as: authentication, in: visit.browser, from: call.origin)
        var response =
            await finish(request, handle, visit.transport, flow, call) ?? Self.redirect(to: request.redirectURI)
        setSession(handle, idle: idle, visit.transport, on: &response)
        return response
    }
}

extension Route {
    static let changePasswordPage = Route(
        .get, Endpoints.changePasswordPath, cors: .noOrigin, .immediate { $0.changePasswordPage() },
        Operation(
            "changePasswordPage", .accountPages, "Where a password is changed",
            "For password managers (W3C: A Well-Known URL for Changing Passwords).",
            answers: [.redirect("To `/account/security`.", status: 302)], errors: [.uriTooLong]))
}
