internal import Cryptography
internal import HTTP
internal import OAuth
internal import Pages
internal import Sessions

/// The page to which the link in a message about a new session leads, so that its user can end it without logging in.
extension Endpoints {
    /// `GET /not-me?s=&t=`: shows the session. Opening the page ends nothing, because programs follow the links in messages.
    func showNotMe(_ call: Call) async throws -> Response {
        let query = call.query
        return try await notMe(call, "\(query["s"] ?? "").\(query["t"] ?? "")") { visit in
            try await notMePage(visit, call)
        }
    }

    /// `POST /not-me`: ends the session with all that the phone login has let in, and all others of the user if the user wants
    /// that. The answer says what has ended.
    func endNotMe(_ call: Call) async throws -> Response {
        try checkOrigin(call)
        let form = try call.form()
        return try await notMe(call, form[.request] ?? "") { visit in
            guard visit.flow.secret.isToken(form[.csrf], of: PagePath.notMe.text, visit.name) else {
                return try await notMePage(
                    visit, call, endsAll: form[.endSessions] == "1", call.staleness(of: form, visit.transport))
            }
            let ended = try await services.phoneLogins.report(visit.id, from: call.origin)
            if form[.endSessions] == "1" {
                _ = try await services.accounts.endSessions(
                    of: visit.record.session.userID, onDevice: nil, from: call.origin)
            }
            let page = NotMeDonePage(ended: ended.map { SignedOutSession($0) }, endsAll: form[.endSessions] == "1")
            return page.response(.ok, in: call.language())
        }
    }

    /// A living session, found by the token of a link.
    private struct NotMeRequest {
        /// The session and the token.
        let name: String
        let id: Identifier<Session>
        /// The session, or another one of the same login, if that is over.
        let record: SessionRecord
        let transport: PageTransport
        let flow: BrowserFlow
    }

    /// Answers a request for the session of a link. A session that is over gets the page that says so.
    private func notMe(
        _ call: Call, _ name: String, _ body: (NotMeRequest) async throws -> Response
    ) async throws -> Response {
        guard let transport = call.transport else { throw RequestProblem.needsTLS }
        let parts = name.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 2, let id = Identifier<Session>(parts[0]),
            services.phoneLogins.isNotMeToken(parts[1], of: id)
        else { throw RequestProblem.invalid("t", "is not a token of this server") }
        guard let record = try await services.phoneLogins.sessions(letInWith: id).first else {
            return NotMeDonePage(wasOver: true).response(.ok, in: call.language())
        }
        let visit = NotMeRequest(
            name: name, id: id, record: record, transport: transport, flow: flow(call, transport))
        return try await body(visit)
    }

    private func notMePage(
        _ visit: NotMeRequest, _ call: Call, endsAll: Bool = false, _ stale: StaleForm? = nil
    ) async throws(ServiceError) -> Response {
        let session = visit.record.session
        let address = try await services.accounts.addresses(of: session.userID, lookMax: placeEventsMax)[session.id]
        var form = FormState(request: visit.name) { visit.flow.secret.formToken($0.text, visit.name) }
        form.isShownAgain = stale != nil
        let page = NotMePage(
            app: visit.record.client.map { app($0.branded(by: visit.record.settings)) }
                ?? PageApp(name: session.clientID),
            form: form, device: session.device.shownName,
            place: address.flatMap { placeName($0, in: call.language()) },
            signedInAt: session.startedAt.secondsSinceEpoch, isByPhone: session.isByPhone,
            endsAll: endsAll, stale: stale)
        var response = page.response(stale?.status ?? .ok, in: call.language())
        visit.flow.set(visit.transport, on: &response)
        return response
    }
}

extension SignedOutSession {
    /// The session as the page names it.
    fileprivate init(_ record: SessionRecord) {
        let isOfBrowser = record.session.clientID == Client.browserID
        self.init(
            app: isOfBrowser ? nil : record.client?.name ?? record.session.clientID,
            device: record.session.device.shownName)
    }
}

extension Route {
    static let showNotMe = Route(
        .get, "/not-me", errorFormat: .page, .open { try await $0.showNotMe($1) },
        Operation(
            "showNotMe", .loginPage, "Was this you?",
            """
            The page to which `not_me_url` of the webhook leads, for a session that a phone has let in. Opening \
            it ends nothing.
            """,
            parameters: ["s", "t.not-me"], answers: [.page, .page(400, "The link has no right token.")]))

    static let endNotMe = Route(
        .post, "/not-me", errorFormat: .page, .open { try await $0.endNotMe($1) },
        Operation(
            "endNotMe", .loginPage, "End a session that is not the user's",
            """
            Ends the session and what it has let in as `not_me`, and with `end_sessions` all sessions of the \
            user. Needs the token of the link, no login.
            """,
            takes: .form, answers: [.page, .page(400, "The form cannot be read, or has no right token.")]))
}
