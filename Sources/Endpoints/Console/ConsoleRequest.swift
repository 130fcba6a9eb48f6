internal import HTTP
internal import Locks
internal import OAuth
internal import Pages
internal import Sessions

/// An admin before a page of the console.
struct ConsoleRequest: Sendable {
    let key: AdminKey
    let call: Call
    let transport: PageTransport
    let now: Instant
    /// The names of all admin keys, by id.
    let keyNames: [String: String]
    /// The form that was sent, while nothing has come of it.
    var sent: FormParameters?
    /// The secret of the browser, by which its forms are recognized.
    fileprivate let flow: FlowSecret

    /// The URL by which the browser reaches this listener, for commands.
    var baseURL: String { "\(transport.isSecure ? "https" : "http")://\(call.request.authority ?? "")" }

    var origin: Origin { call.origin }

    /// This stay, once the form has done what it says.
    var withoutForm: ConsoleRequest {
        var stay = self
        stay.sent = nil
        return stay
    }

    /// Whether the key may do what needs `scope`.
    func may(_ scope: AdminKey.Scope) -> Bool { key.scope.includes(scope) }

    /// The hidden fields of forms.
    var form: FormState { FormState(flow, keyID: key.id) }

    /// Whether `form` is that of a page which this browser was shown, and goes to where this request went.
    func sent(_ form: FormParameters) -> Bool { flow.isToken(form[.csrf], of: call.request.target.path, key.id) }

    /// The parameters that `path(_:saying:)` adds.
    static let ownParameters = ["done", "t"]

    /// The path of a page with what it shall say, and a token, so that no link makes the page say it.
    func path(_ page: PagePath, saying word: String) -> String {
        let base = String(page.text.prefix { $0 != "?" })
        let query = "done=\(PercentEncoding.encode(word))&t=\(flow.formToken(base, word))"
        return page.text + (page.text.contains("?") ? "&" : "?") + query
    }

    /// The parameters of the page.
    var query: AuthorizationParameters { AuthorizationParameters((try? call.request.queryItems()) ?? []) }

    /// The word that `path(_:saying:)` put into the URL; nil without one.
    var word: String? {
        guard let word = query["done"], flow.isToken(query["t"], of: call.request.target.path, word) else {
            return nil
        }
        return word
    }
}

extension FormState {
    /// The hidden fields of the forms of a browser that an admin key has let in.
    init(_ flow: FlowSecret, keyID: String) {
        // The forms of a page go to one path, except for a few.
        let last = Locked<(path: PagePath, token: String)?>(nil)
        self.init { path in
            last.withLock { last in
                if let last, last.path == path { return last.token }
                let token = flow.formToken(path.text, keyID)
                last = (path, token)
                return token
            }
        }
    }
}

extension ConsolePage.Header {
    /// The header for an admin key.
    init(_ key: AdminKey) { self.init(keyName: key.name, scope: key.scope.rawValue) }
}

extension FormParameters {
    /// The value of a field of the console; nil if it is missing or empty.
    func value(_ name: String) -> String? { self[name].flatMap { $0.isEmpty ? nil : $0 } }
}

extension Endpoints {
    /// Answers a request for a page of the console, or a form that belongs to one, for an admin whose key has `scope`. Without
    /// a living cookie the browser is asked for a key, and then goes on to the page.
    func console(
        _ call: Call, needing scope: AdminKey.Scope = .read, _ body: (ConsoleRequest) async throws -> Response
    ) async throws -> Response {
        let transport = try consoleTransport(call)
        let isForm = call.request.method == .post
        if isForm { try checkConsoleOrigin(call, transport) }
        let now = context.clock.now
        for secret in call.cookies(PageCookie.console.name(transport)) {
            guard let flow = FlowSecret(secret),
                let id = consoleSessions.keyID(of: secret, at: now, isUse: !call.isOfLivePage)
            else { continue }
            let keys = try await services.administration.adminKeys()
            guard let key = keys.first(where: { $0.id == id }), key.expiresAt.map({ now < $0 }) ?? true else {
                continue
            }
            let call = call.by(key.actor, key.scope)
            let names = Dictionary(keys.map { ($0.id, $0.name) }) { first, _ in first }
            let stay = ConsoleRequest(
                key: key, call: call, transport: transport, now: now, keyNames: names, flow: flow)
            guard stay.may(scope) else { return refuse(scope, stay) }
            return try await body(stay)
        }
        if isForm, let typed = TypedForm(call) {
            return entryPage(call, transport, ConsoleEntry(page: typed.path.text, typed: typed), .typedIsKept)
        }
        let page = isForm ? PagePath.console.text : call.consolePage
        return Self.redirect(to: "\(PagePath.consoleEnter.text)?to=\(PercentEncoding.encode(page))")
    }

    /// Says that the key may not do that.
    func refuse(_ scope: AdminKey.Scope, _ stay: ConsoleRequest) -> Response {
        log(RequestProblem.insufficientScope([scope], actor: stay.key.actor), .forbidden, stay.call)
        return ConsoleView(stay, self).refusal(scope, TypedForm(stay.call)).response(.forbidden)
    }

    /// Answers a form of the console: nothing happens unless this browser was shown it.
    func consoleForm(
        _ call: Call, of page: PagePath, needing scope: AdminKey.Scope,
        _ body: (ConsoleRequest, FormParameters) async throws -> Response
    ) async throws -> Response {
        try await console(call, needing: scope) { stay in
            let form = try call.form()
            guard stay.sent(form) else {
                guard let typed = TypedForm(call) else { return Self.redirect(to: stay.path(page, saying: "again")) }
                return ConsoleView.typed(typed, ConsolePage.Header(stay.key), stay.form, isBack: false)
                    .response(.conflict)
            }
            var filled = stay
            filled.sent = form
            return try await body(filled, form)
        }
    }

    /// Checks the way by which the browser came. A name that the operator has not given may be a stranger's, which leads here
    /// by DNS, so that his page would be of the same origin as the console.
    func consoleTransport(_ call: Call) throws -> PageTransport {
        guard let host = call.host, consoleSettings.hosts.contains(host) else { throw RequestProblem.unknownHost }
        guard let transport = call.transport else { throw RequestProblem.needsTLS }
        return transport
    }

    /// Throws `crossSite` if a form comes from a page of another origin.
    func checkConsoleOrigin(_ call: Call, _ transport: PageTransport) throws {
        if let site = try call.onlyField("Sec-Fetch-Site") {
            guard site == "same-origin" else { throw RequestProblem.crossSite }
            return
        }
        guard let origin = try call.onlyField("Origin") else { return }
        let own = "\(transport.isSecure ? "https" : "http")://\(call.request.authority ?? "")"
        guard origin.lowercased() == own.lowercased() else { throw RequestProblem.crossSite }
    }

    /// The answer to a request without a route: a page for browsers, and below the path of the console, because a browser shows
    /// it.
    func refusal(_ problem: Problem, _ request: Request, _ caller: Caller, _ id: RequestID) -> Response {
        let path = request.target.path
        if caller.listener == .public, request.method == .get,
            request.fields.first("Accept")?.contains("text/html") == true
        {
            let language = PageLanguage.chosen(
                uiLocales: nil, acceptLanguage: request.fields.first("Accept-Language"))
            return ErrorPage(.notFound, detail: problem.detail, requestID: id.text)
                .response(problem.httpStatus, in: language)
        }
        guard caller.listener != .public,
            path == PagePath.console.text || path.hasPrefix(PagePath.console.text + "/")
        else { return problem.response }
        return ConsoleView.errorPage(problem, requestID: id.text).response(problem.httpStatus)
    }

    /// The page of an error of the console. It has the form that was sent, to be sent once more.
    func consoleErrorPage(_ problem: Problem, to call: Call) -> Response {
        let form = formState(of: call)
        return ConsoleView.errorPage(
            problem, requestID: call.requestID, typed: form == nil ? nil : TypedForm(call), form
        ).response(problem.httpStatus)
    }

    /// The hidden fields of forms for the browser that has sent a form of this console; nil if it is not in.
    private func formState(of call: Call) -> FormState? {
        guard let transport = try? consoleTransport(call), (try? checkConsoleOrigin(call, transport)) != nil else {
            return nil
        }
        for secret in call.cookies(PageCookie.console.name(transport)) {
            if let flow = FlowSecret(secret),
                let id = consoleSessions.keyID(of: secret, at: context.clock.now, isUse: false)
            {
                return FormState(flow, keyID: id)
            }
        }
        return nil
    }
}

extension Call {
    /// The page of the console that was asked for, with what a form has put into its query.
    var consolePage: String {
        let own = ConsoleRequest.ownParameters
        let query = ((try? request.queryItems()) ?? []).filter { !own.contains($0.name) && !$0.value.isEmpty }
            .map { "\(PercentEncoding.encode($0.name))=\(PercentEncoding.encode($0.value))" }
        return request.target.path + (query.isEmpty ? "" : "?" + query.joined(separator: "&"))
    }

    /// The host of the request in lower case, without its port.
    var host: String? {
        guard let authority = request.authority?.lowercased() else { return nil }
        if authority.hasPrefix("[") { return authority.prefix { $0 != "]" } + "]" }
        return String(authority.prefix { $0 != ":" })
    }
}
