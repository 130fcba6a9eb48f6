internal import Cryptography
internal import HTTP
internal import OAuth
internal import Pages
internal import Sessions

/// A request to log out (OpenID Connect RP-Initiated Logout section 2). A fault in it keeps the browser on the page of this
/// server, and never keeps the user signed in.
private struct LogoutRequest: Sendable {
    /// The parameters as a query, which the form of the page repeats.
    let query: String
    let client: Client?
    let hint: IDTokenHint?
    /// Where the browser goes afterwards, with `state`; nil: to the page of this server.
    let destination: String?
    /// The first fault; nil without one.
    let fault: RequestProblem?
}

extension Endpoints {
    static let logoutPath = "/oauth/logout"

    /// `GET /oauth/logout` and `POST /oauth/logout`: ends the session of the browser. The cookie names that session.
    /// An ID token of the same user saves the question; by itself it ends nothing, because a leaked one would log the user out
    /// for ever. A POST of another site has no cookie (SameSite), so that it goes on as a GET.
    func logOutBrowser(_ call: Call) async throws -> Response {
        guard let transport = call.transport else { throw RequestProblem.needsTLS }
        let (parameters, fault) = Self.logoutParameters(call)
        if call.request.method == .post, parameters["csrf"] == nil {
            return Self.redirect(to: url(.logout) + (parameters.query.map { "?" + $0 } ?? ""))
        }
        let isConfirmation = call.request.method == .post
        if isConfirmation { try checkOrigin(call) }
        let (asked, askedFault) =
            isConfirmation ? Self.logoutParameters(query: parameters["r"] ?? "") : (parameters, fault)
        let request = try await logoutRequest(asked, askedFault)
        if let fault = request.fault { log(fault, .ok, call) }
        let handle = browserHandle(call, transport)
        guard let handle, let record = try await services.pageLogin.sessionToEnd(handle), let user = record.user
        else {
            let reason = try await handle.asyncFlatMap { try await services.pageLogin.endReason(of: $0) }
            let ending: SignedOutPage.Ending = reason.map { $0.isOfPhone ? .withPhone : .session } ?? .nothing
            return signedOut(request, transport, call, ending)
        }
        let isAsked =
            isConfirmation
            && call.flowSecrets(transport).contains {
                $0.isToken(parameters["csrf"], of: Self.logoutPath, request.query)
            }
        guard isAsked || request.hint?.subject == user.id.description else {
            return question(request, of: user, transport, call)
        }
        try await services.pageLogin.logOut(handle, naming: request.hint?.sessionID, from: call.origin)
        return signedOut(request, transport, call, .session)
    }

    /// The parameters of the call; none, and the fault, if they cannot be read.
    private static func logoutParameters(_ call: Call) -> (AuthorizationParameters, RequestProblem?) {
        do { return (try AuthorizationParameters(call), nil) } catch {
            return (AuthorizationParameters([]), error as? RequestProblem ?? unreadableLogout)
        }
    }

    /// The parameters of the query that a form repeats.
    private static func logoutParameters(query: String) -> (AuthorizationParameters, RequestProblem?) {
        do throws(FormError) { return (AuthorizationParameters(try FormDecoder.decode(Array(query.utf8))), nil) } catch
        {
            return (AuthorizationParameters([]), unreadableLogout)
        }
    }

    private static let unreadableLogout = RequestProblem.unreadable("The request cannot be read.")

    /// Checks the parameters. A redirect URI is never followed unless the client is known and has registered it, and nothing
    /// else in the request is wrong.
    private func logoutRequest(
        _ parameters: AuthorizationParameters, _ unreadable: RequestProblem?
    ) async throws -> LogoutRequest {
        var fault = unreadable
        func note(_ member: String, _ detail: String) { fault = fault ?? .invalid(member, detail) }
        func only(_ name: String) -> String? {
            guard parameters.repeats(name) else { return parameters[name] }
            note(name, "must stand only once")
            return nil
        }
        let (token, id) = (only("id_token_hint"), only("client_id"))
        let (uri, state) = (only("post_logout_redirect_uri"), only("state"))
        var hint = token.flatMap { services.pageLogin.hint($0) }
        if token != nil, hint == nil { note("id_token_hint", "is not an ID token of this server") }
        if let id, let known = hint, known.audience != id {
            note("client_id", "must be that of the id_token_hint")
            hint = nil
        }
        let client = try await (hint?.audience ?? id).asyncFlatMap { try await services.pageLogin.client($0) }
        if uri != nil, client == nil {
            note("post_logout_redirect_uri", "needs an id_token_hint, or a known client_id")
        }
        if let uri, let client, !client.page.redirectsAfterLogout(to: uri) {
            note("post_logout_redirect_uri", "is not registered for the client")
        }
        let destination = uri.map { uri in
            uri + (state.map { (uri.contains("?") ? "&" : "?") + "state=\(PercentEncoding.encode($0))" } ?? "")
        }
        return LogoutRequest(
            query: parameters.query ?? "", client: client, hint: hint, destination: fault == nil ? destination : nil,
            fault: fault)
    }

    /// What the pages say about a fault.
    private func fault(of request: LogoutRequest, _ call: Call) -> RequestFault? {
        request.fault.map { RequestFault(detail: Self.problem($0).detail, requestID: call.requestID) }
    }

    private func question(
        _ request: LogoutRequest, of user: User, _ transport: PageTransport, _ call: Call
    ) -> Response {
        let browserFlow = flow(call, transport)
        let flow = browserFlow.secret
        let page = LogoutPage(
            app: request.client.map { app($0) },
            form: FormState(request: request.query) { flow.formToken($0.text, request.query) }, account: user.username,
            fault: fault(of: request, call))
        var response = page.response(
            .ok, in: call.language(),
            submittingTo: [request.destination.flatMap { PageURL(absolute: $0) }].compactMap(\.self))
        browserFlow.set(transport, on: &response)
        return response
    }

    /// The browser is logged out: it goes on to the client, or sees the page that says so. A cookie whose session is over is
    /// deleted.
    private func signedOut(
        _ request: LogoutRequest, _ transport: PageTransport, _ call: Call,
        _ ending: SignedOutPage.Ending
    ) -> Response {
        var response =
            request.destination.map { Self.redirect(to: $0) }
            ?? SignedOutPage(
                app: request.client.map { app($0) },
                signIn: request.client?.page.initiateLoginURI.flatMap { PageURL(absolute: $0) },
                ending: ending, fault: fault(of: request, call)
            ).response(.ok, in: call.language())
        if !call.cookies(PageCookie.session.name(transport)).isEmpty {
            PageCookie.session.delete(transport, from: &response)
            // The browser forgets the pages that it has kept for Back. On a host with a path the others' files would go, too.
            if transport.isSecure, transport.issuerPath == .root {
                response.fields.append("Clear-Site-Data", "\"cache\"")
            }
        }
        return response
    }
}

extension AuthorizationParameters {
    /// The parameters as a query; nil if there are none.
    var query: String? {
        let text = pairs.map { "\(PercentEncoding.encode($0.name))=\(PercentEncoding.encode($0.value))" }
            .joined(separator: "&")
        return text.isEmpty ? nil : text
    }
}

extension Optional where Wrapped: Sendable {
    /// The result of `body` for the value; nil without one.
    func asyncFlatMap<Value>(_ body: (Wrapped) async throws -> Value?) async rethrows -> Value? {
        guard let self else { return nil }
        return try await body(self)
    }
}

extension EndReason {
    /// Whether a session with this reason ended because the phone is gone that had let it in.
    fileprivate var isOfPhone: Bool { self == .parentEnded || self == .presenceLost }
}

extension Route {
    static let logOutBrowser = Route(
        .get, Endpoints.logoutPath, errorFormat: .page, .open { try await $0.logOutBrowser($1) },
        Operation(
            "logOutBrowser", .loginPage, "Log the browser out",
            """
            OpenID Connect RP-Initiated Logout. Ends the session of the browser, which its cookie names, and the \
            app's session of the hint if it began in this browser. Without a hint of the same user the page \
            asks. A fault in the request ends the redirect and not the logout: the page says what is wrong.
            """,
            parameters: [
                "id_token_hint.logout", "client_id.logout", "post_logout_redirect_uri", "state.logout",
                "ui_locales.logout",
            ],
            answers: [.page, .redirect("To the client.")]))

    static let logOutBrowserByForm = Route(
        .post, Endpoints.logoutPath, errorFormat: .page, .open { try await $0.logOutBrowser($1) },
        Operation(
            "logOutBrowserByForm", .loginPage, "Log the browser out by a form",
            "As the GET; also takes the page's own form.",
            takes: .form,
            answers: [
                .page, .redirect("To the client, or to the GET."),
                .page(400, "`Origin` or `Sec-Fetch-Site` stands twice."),
            ],
            without: [415]))
}
