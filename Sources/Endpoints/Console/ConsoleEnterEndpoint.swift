internal import Console
internal import HTTP
internal import OAuth
internal import Pages
internal import Sessions

/// The way into the console and out of it.
extension Endpoints {
    /// `GET /console/enter?to=&t=`: asks for an admin key, or offers to use the link of `sojourn console`. To open a link uses
    /// nothing up, because programs that look at links do so too.
    func showConsoleEntry(_ call: Call) async throws -> Response {
        let transport = try consoleTransport(call)
        let query = AuthorizationParameters((try? call.request.queryItems()) ?? [])
        let token = query["t"]
        let link = token.flatMap { consoleSessions.link($0, at: context.clock.now) }
        return entryPage(
            call, transport, ConsoleEntry(page: query["to"], token: link == nil ? nil : token, link: link),
            token != nil && link == nil ? .linkExpired : nil)
    }

    /// `POST /console/enter`: lets the browser in by an admin key, or by a link, which makes an admin key.
    func enterConsole(_ call: Call) async throws -> Response {
        let transport = try consoleTransport(call)
        try checkConsoleOrigin(call, transport)
        let form = try call.form()
        let now = context.clock.now
        let shown = Self.flowSecrets(call, transport).first {
            $0.isToken(form[.csrf], of: PagePath.consoleEnter.text, "")
        }
        let destination = ConsoleEntry(page: form["to"], typed: TypedForm(form))
        guard shown != nil else { return entryPage(call, transport, destination, .pressAgain) }
        if let token = form["token"] {
            guard let link = consoleSessions.take(token, at: now) else {
                return entryPage(call, transport, destination, .linkExpired)
            }
            let (key, _) = try await services.administration.createAdminKey(
                name: link.keyName, scope: link.scope, lifetime: ConsoleSessions.keyLifetime,
                by: Origin(actor: "admin:local", remoteAddress: call.caller.remoteAddress, requestID: call.requestID))
            return letIn(key, ownsKey: true, destination, transport)
        }
        guard let key = try await services.administration.adminKey(for: form["key"] ?? "") else {
            log(RequestProblem.unknownAdminKey, .unprocessable, call)
            return entryPage(call, transport, destination, .unknownKey)
        }
        guard key.scope.includes(.read) else { return entryPage(call, transport, destination, .keyWithoutRead) }
        return letIn(key, ownsKey: false, destination, transport)
    }

    /// `POST /console/leave`: lets the browser out. A key that a link has made ends with it.
    func leaveConsole(_ call: Call) async throws -> Response {
        try await consoleForm(call, of: .console, needing: .read) { stay, _ in
            for secret in call.cookies(PageCookie.console.name(stay.transport)) {
                guard let keyID = consoleSessions.close(secret) else { continue }
                do throws(ServiceError) {
                    try await services.administration.deleteAdminKey(keyID, by: stay.origin)
                } catch {
                    guard case .notFound = error else { throw error }
                }
            }
            var response = Self.redirect(to: PagePath.consoleEnter.text)
            PageCookie.console.delete(stay.transport, from: &response)
            return response
        }
    }

    /// `POST /admin/v1/console-links` `{name?, scope?}`: makes a link that lets a browser into the console. The call exists only
    /// on the admin socket.
    func createConsoleLink(_ call: Call) async throws -> Response {
        guard call.caller.listener == .adminSocket else { return Self.consoleIsLocal }
        let members = try Members(call, known: ["name", "scope"], mayBeMissing: true)
        let now = context.clock.now
        let scope = try members.word("scope", as: AdminKey.Scope.self) ?? .owner
        guard scope.includes(.read) else { throw members.refused("scope", "must be read, support or owner") }
        let link = ConsoleEntry.Link(
            keyName: try members.text("name") ?? "console", scope: scope, expiresAt: now + ConsoleSessions.linkLifetime)
        let token = consoleSessions.makeLink(link, at: now, random: context.random)
        return try .json(
            ConsoleLinkAnswer(
                url: "\(consoleSettings.baseURL)\(PagePath.consoleEnter.text)?t=\(token)",
                expiresAt: link.expiresAt.secondsSinceEpoch), .created)
    }

    private static var consoleIsLocal: Response {
        Problem(
            .forbidden, code: "local_only",
            detail: "Links to the console are made on the server's machine, as its user: sojourn console."
        ).response
    }

    private func letIn(
        _ key: AdminKey, ownsKey: Bool, _ destination: ConsoleEntry, _ transport: PageTransport
    ) -> Response {
        let cookie = consoleSessions.open(key.id, ownsKey: ownsKey, at: context.clock.now, random: context.random)
        var response = Self.redirect(to: destination.path.text)
        if let typed = destination.typed, let flow = FlowSecret(cookie) {
            response = ConsoleView.typed(typed, ConsolePage.Header(key), FormState(flow, keyID: key.id), isBack: true)
                .response()
        }
        PageCookie.console.set(cookie, transport, on: &response)
        return response
    }

    func entryPage(
        _ call: Call, _ transport: PageTransport, _ entry: ConsoleEntry, _ message: ConsoleEntry.Message?
    ) -> Response {
        let shown = Self.flowSecrets(call, transport).first
        let flow = shown ?? FlowSecret(random: context.random)
        let page = ConsoleView.entry(entry, message, FormState { flow.formToken($0.text, "") })
        var response = page.response(message?.status ?? .ok)
        if shown == nil { PageCookie.consoleFlow.set(flow.text, transport, on: &response) }
        return response
    }

    /// The secrets of the entry. A browser sends them with its form, and with a link from a terminal, but not from another site.
    private static func flowSecrets(_ call: Call, _ transport: PageTransport) -> [FlowSecret] {
        call.cookies(PageCookie.consoleFlow.name(transport)).compactMap { FlowSecret($0) }
    }
}

private struct ConsoleLinkAnswer: Encodable {
    let url: String
    let expiresAt: Int64

    enum CodingKeys: String, CodingKey {
        case url
        case expiresAt = "expires_at"
    }
}
