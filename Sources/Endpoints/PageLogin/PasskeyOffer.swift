internal import HTTP
internal import OAuth
internal import Pages
internal import Sessions

/// The offer of a passkey after a login by password.
extension Endpoints {
    /// How long a browser is not asked again.
    private static let offerPause = Duration.seconds(30 * 86_400)

    /// Opens the session of the browser, and offers the user a passkey before the client gets its answer. Nil, and nothing has
    /// happened, if there is nothing to offer: the user has a passkey, the browser was asked lately, or the request asks for more
    /// than the session of a browser that goes on.
    func passkeyOffer(
        to user: User, _ visit: PageLoginRequest, _ flow: FlowSecret,
        as authentication: PageLoginService.Authentication,
        _ call: Call
    ) async throws(ServiceError) -> Response? {
        let request = visit.carried.request
        guard context.passkeys != nil, request.isAnsweredBySession,
            call.cookies(PageCookie.offered.name(visit.transport)).isEmpty,
            let client = try await services.pageLogin.client(request.clientID),
            client.page.browserSession != .none, client.page.offers(.passkey),
            try await services.passkeys.passkeys(of: user.id).isEmpty, try await !isOnProbation(visit, call),
            let (handle, idle) = try await services.pageLogin.begin(
                visit.carried, as: authentication, in: visit.browser, from: call.origin),
            let account = try await services.pageLogin.accountVisit(handle)
        else { return nil }
        guard var response = try offerPage(visit, flow, account, having: [], client, call) else { return nil }
        setSession(handle, idle: idle, visit.transport, on: &response)
        PageCookie.offered.set("1", lifetime: Self.offerPause, visit.transport, on: &response)
        return response
    }

    /// Whether a phone has let the browser's session in within the last day. It adds nothing that would outlast it.
    private func isOnProbation(_ visit: PageLoginRequest, _ call: Call) async throws(ServiceError) -> Bool {
        guard let handle = browserHandle(call, visit.transport),
            let account = try await services.pageLogin.accountVisit(handle)
        else { return false }
        return account.session.isOnProbation(at: context.clock.now)
    }

    /// The page of the offer; nil if the account can have no other passkey.
    private func offerPage(
        _ visit: PageLoginRequest, _ flow: FlowSecret, _ account: AccountPageSession, having known: [Passkey],
        _ client: Client,
        hasFailed: Bool = false, _ call: Call
    ) throws(ServiceError) -> Response? {
        let request = visit.carried.request
        guard let options = try creationOptions(for: account, having: known) else { return nil }
        var app = app(client, request)
        // Either button goes on.
        app.back = nil
        return PasskeyOfferPage(
            app: app, form: FormState(request: visit.sealed) { flow.formToken($0.text, visit.sealed) },
            options: options, hasFailed: hasFailed
        ).response(
            hasFailed ? .unprocessable : .ok, in: call.language(request), submittingTo: formTargets(request, client))
    }

    /// `POST /login/offer`: adds the passkey that the browser has made, if there is one, and answers the client by the session of
    /// the browser.
    func takePasskeyOffer(_ call: Call) async throws -> Response {
        let (visit, flow, form): (PageLoginRequest, FlowSecret, FormParameters)
        switch try await submission(call, to: .loginOffer, .passkey) {
        case .page(let response): return response
        case .form(let sentVisit, let sentFlow, let sentForm): (visit, flow, form) = (sentVisit, sentFlow, sentForm)
        }
        let request = visit.carried.request
        guard !request.isOfAccountPages, let handle = browserHandle(call, visit.transport),
            let account = try await services.pageLogin.accountVisit(handle),
            let client = try await services.pageLogin.client(request.clientID)
        else { return try await loginPage(visit, username: nil, .signInAgain, call) }
        try account.session.refuseOnProbation(at: context.clock.now)
        do throws(ServiceError) {
            if account.isRecent, !account.isPaused, let credential = form[.credential],
                let refusal = try await addPasskey(credential, to: account, call)
            {
                log(refusal, .unprocessable, call)
                let known = try await services.passkeys.passkeys(of: account.user.id)
                if let page = try offerPage(visit, flow, account, having: known, client, hasFailed: true, call) {
                    return page
                }
            }
            let approval = try await services.pageLogin.reuse(visit.carried, in: visit.browser, from: call.origin)
            if let approval { return answer(approval, to: request, visit.transport) }
        } catch { return try await refusal(error, of: visit, call) }
        return try await loginPage(visit, username: nil, .signInAgain, call)
    }
}

extension Route {
    static let takePasskeyOffer = Route(
        .post, "/login/offer", errorFormat: .page, .open { try await $0.takePasskeyOffer($1) },
        Operation(
            "takePasskeyOffer", .loginPage, "Add a passkey after a login",
            """
            After a login by password the page offers a passkey, at most once in 30 days for each browser, if \
            the client's users log in by passkeys and the account has none. Either button goes on to the client.
            """,
            takes: .form,
            answers: [
                .page, .redirect("To the client, with the answer."), .unknownRequest,
                .page(403, "The form comes from another site, or logins are disabled."),
                .page(422, "The passkey was not added, and the page offers again."),
            ]))
}
