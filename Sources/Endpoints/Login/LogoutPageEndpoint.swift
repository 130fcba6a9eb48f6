internal import Cryptography
internal import HTTP
internal import OAuth
internal import Pages
internal import Sessions

/// A valid request to log out (OpenID Connect RP-Initiated Logout section 2).
private struct LogoutRequest: Sendable {
    /// The parameters as a query, which the form of the page repeats.
    let query: String
    let client: Client?
    let hint: IDTokenHint?
    /// Where the browser goes afterwards, with `state`; nil: to the page of this server.
    let destination: String?
}

extension Endpoints {
    static let logoutPath = "/oauth/logout"

    /// `GET /oauth/logout` and `POST /oauth/logout`: ends the session of the browser. The cookie decides whose session that is.
    /// An ID token of the same user saves the question; by itself it ends nothing, because a leaked one would log the user out
    /// for ever. A POST of another site has no cookie (SameSite), so that it goes on as a GET.
    func logOutBrowser(_ call: Call) async throws -> Response {
        guard let transport = call.transport else { throw RequestProblem.needsTLS }
        let parameters = try AuthorizationParameters(call)
        if call.request.method == .post, parameters["csrf"] == nil {
            return Self.redirect(to: baseURL + Self.logoutPath + (parameters.query.map { "?" + $0 } ?? ""))
        }
        let isConfirmation = call.request.method == .post
        if isConfirmation { try checkOrigin(call) }
        let request = try await logoutRequest(
            isConfirmation ? try AuthorizationParameters(query: parameters["r"] ?? "") : parameters)
        let handle = browserHandle(call, transport)
        guard let handle, let record = try await services.hostedLogin.browserSession(handle), let user = record.user
        else {
            let reason = try await handle.asyncFlatMap { try await services.hostedLogin.endReason(of: $0) }
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
        try await services.hostedLogin.logOut(handle, naming: request.hint?.sessionID, from: call.origin)
        return signedOut(request, transport, call, .session)
    }

    /// Checks the parameters. A redirect URI is never followed unless the client is known and has registered it.
    private func logoutRequest(_ parameters: AuthorizationParameters) async throws -> LogoutRequest {
        for name in ["id_token_hint", "client_id", "post_logout_redirect_uri", "state"] where parameters.repeats(name) {
            throw RequestProblem.invalid(name, "must stand only once")
        }
        var hint: IDTokenHint?
        if let token = parameters["id_token_hint"] {
            guard let known = services.hostedLogin.hint(token) else {
                throw RequestProblem.invalid("id_token_hint", "is not an ID token of this server")
            }
            hint = known
        }
        if let id = parameters["client_id"], let hint, hint.audience != id {
            throw RequestProblem.invalid("client_id", "must be that of the id_token_hint")
        }
        let client = try await (hint?.audience ?? parameters["client_id"]).asyncFlatMap {
            try await services.hostedLogin.client($0)
        }
        var destination: String?
        if let uri = parameters["post_logout_redirect_uri"] {
            guard let client, client.hostedLogin.redirectsAfterLogout(to: uri) else {
                throw RequestProblem.invalid("post_logout_redirect_uri", "is not registered for the client")
            }
            let state = parameters["state"].map {
                (uri.contains("?") ? "&" : "?") + "state=\(PercentEncoding.encode($0))"
            }
            destination = uri + (state ?? "")
        }
        return LogoutRequest(query: parameters.query ?? "", client: client, hint: hint, destination: destination)
    }

    private func question(
        _ request: LogoutRequest, of user: User, _ transport: PageTransport, _ call: Call
    ) -> Response {
        let shown = call.flowSecrets(transport).first
        let flow = shown ?? FlowSecret(random: context.random)
        let page = LogoutPage(
            app: request.client.map { app($0) },
            form: FormState(request: request.query) { flow.formToken($0.text, request.query) }, account: user.username)
        var response = page.response(
            .ok, in: call.language(),
            submittingTo: [request.destination.flatMap { PageURL(absolute: $0) }].compactMap(\.self))
        if shown == nil { PageCookie.flow.set(flow.text, transport, on: &response) }
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
                signIn: request.client?.hostedLogin.initiateLoginURI.flatMap { PageURL(absolute: $0) },
                ending: ending
            ).response(.ok, in: call.language())
        if !call.cookies(PageCookie.session.name(transport)).isEmpty {
            PageCookie.session.delete(transport, from: &response)
        }
        return response
    }
}

extension AuthorizationParameters {
    /// The parameters of a query; none if it cannot be read.
    init(query: String) throws {
        do throws(FormError) { self.init(try FormDecoder.decode(Array(query.utf8))) } catch {
            throw RequestProblem.unreadable("The request cannot be read.")
        }
    }

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
