internal import Console
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

    /// What the views have of the admin.
    var admin: ConsoleAdmin {
        ConsoleAdmin(
            key: key, keyNames: keyNames, baseURL: baseURL, form: form, sent: sent?.values, flash: flash)
    }

    /// Whether `form` is that of a page which this browser was shown, and goes to where this request went.
    func sent(_ form: FormParameters) -> Bool { flow.isToken(form[.csrf], of: call.request.target.path, key.id) }

    /// The parameters that `path(_:saying:)` adds.
    static let ownParameters = FlowSecret.flashParameters

    /// The path of a page with what it shall say.
    func path(_ page: PagePath, saying flash: ConsoleFlash) -> String {
        flow.path(page, saying: flash)
    }

    /// The parameters of the page.
    var query: AuthorizationParameters { AuthorizationParameters((try? call.request.queryItems()) ?? []) }

    /// What the URL says.
    var flash: ConsoleFlash? { flow.flash(in: query, on: call.request.target.path) }
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

extension FormParameters {
    /// The values of a form of the console.
    var values: FormValues { FormValues { self[$0] } }
}

extension TypedForm {
    /// What no page shows: what was looked for may be a token, and the entry takes a key.
    private static let unkept = [PagePath.consoleFind, .consoleLeave, .consoleEnter].map(\.text)

    /// The form that a request has; nil if it has none that is kept.
    init?(_ call: Call) {
        let path = call.request.target.path
        guard call.request.method == .post, !Self.unkept.contains(path) else { return nil }
        self.init(path: path, body: String(decoding: call.request.body, as: UTF8.self))
    }

    /// The form that the page of the entry has kept.
    init?(_ form: FormParameters) {
        guard let path = form[Self.pathField], let body = form[Self.bodyField] else { return nil }
        self.init(path: path, body: body)
    }

    private init?(path: String, body: String) {
        guard let pairs = try? FormDecoder.decode(Array(body.utf8)) else { return nil }
        self.init(path: path, body: body, pairs: pairs.map { ($0.name, $0.value) })
    }
}

extension Endpoints {
    /// The views for an admin.
    func view(_ stay: ConsoleRequest) -> ConsoleView {
        ConsoleView(
            stay.admin,
            ConsoleSetting(
                now: stay.now, policy: context.policy, issuer: context.url(""),
                placeName: { [self] in placeName($0) },
                providers: identityVerifier?.redirectProviders.map(\.name) ?? [],
                failure: { [context] in context.deliveries.failure(of: $0) }, newClient: Self.newClient))
    }

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
        return view(stay).refusal(scope, TypedForm(stay.call)).response(.forbidden)
    }

    /// Answers a form of the console: nothing happens unless this browser was shown it.
    func consoleForm(
        _ call: Call, of page: PagePath, needing scope: AdminKey.Scope,
        _ body: (ConsoleRequest, FormParameters) async throws -> Response
    ) async throws -> Response {
        try await console(call, needing: scope) { stay in
            let form = try call.form()
            guard stay.sent(form) else {
                guard let typed = TypedForm(call) else {
                    return Self.redirect(to: stay.path(page, saying: ConsoleFlash(.pressAgain)))
                }
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
            let language = languages.chosen(
                uiLocales: nil, acceptLanguage: request.fields.first("Accept-Language"))
            return ErrorPage(.notFound, detail: problem.detail, requestID: id.text)
                .response(problem.httpStatus, in: language)
        }
        guard caller.listener != .public,
            path == PagePath.console.text || path.hasPrefix(PagePath.console.text + "/")
        else { return problem.response }
        return ConsoleView.errorPage(problem.httpStatus, detail: problem.detail, requestID: id.text).response(
            problem.httpStatus)
    }

    /// The page of an error of the console. It has the form that was sent, to be sent once more.
    func consoleErrorPage(_ problem: Problem, to call: Call) -> Response {
        let form = formState(of: call)
        return ConsoleView.errorPage(
            problem.httpStatus, detail: problem.detail, requestID: call.requestID,
            typed: form == nil ? nil : TypedForm(call), form
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
