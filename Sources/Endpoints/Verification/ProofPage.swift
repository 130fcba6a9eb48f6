internal import HTTP
internal import OAuth
internal import Pages
internal import Sessions

/// A request for a page on which a mailbox is proven: a new account, a forgotten password, or a login by e-mail.
struct ProofPage: Sendable {
    let call: Call
    let transport: PageTransport
    let purpose: MailboxPurpose
    /// The secret of the browser, of which the pages before know the hash.
    let flow: FlowSecret
    /// What the forms of the page carry: the sealed login that waits, or the sealed verification; nil: nothing.
    let sealed: String?
    /// The login that waits for the proof; nil: none.
    let login: CarriedRequest?
    /// The sealed text of that login, for the next form.
    let sealedLogin: String?
    /// The client of the login; nil: the account pages, or no login waits.
    let client: Client?
    let app: PageApp?

    var language: PageLanguage { call.language(login?.request) }
    /// Shows the login page instead.
    var signIn: PagePath { sealedLogin.map(PagePath.loginPage) ?? .account }
    /// Asks for another mailbox.
    var again: PagePath { purpose.askPath.carrying(sealedLogin) }
    /// Whether the user can stay logged in.
    var offersRemember: Bool { (client?.page ?? .ofAccountPages).browserSession != .none }

    /// The hidden fields of the page's forms.
    func form(_ stale: StaleForm? = nil) -> FormState {
        var form = FormState(request: sealed) { flow.formToken($0.text, sealed ?? "") }
        form.isShownAgain = stale != nil
        return form
    }

    /// Whether `form` is that of this page, in this browser.
    func sent(_ form: FormParameters, to path: PagePath) -> Bool {
        flow.isToken(form[.csrf], of: path.text, sealed ?? "")
    }

    /// Why a form that was not that of the page counts for nothing.
    func stale(_ form: FormParameters) -> VerificationMessage { .stale(call.staleness(of: form, transport)) }
}

/// A proof page after the mail was sent.
struct SentProofPage: Sendable {
    let page: ProofPage
    let carried: CarriedVerification
    let handle: VerificationHandle

    /// What the forms of the page carry.
    var sealed: String { page.sealed ?? "" }
}

extension Endpoints {
    /// Answers a request for a page that asks for a mailbox. Without a sender of mails there is none.
    ///
    /// - Parameter sealed: the login that waits, as the page before has sent it.
    func proofPage(
        _ call: Call, _ purpose: MailboxPurpose, _ sealed: String?,
        _ body: (ProofPage) async throws -> Response
    ) async throws -> Response {
        let transport = try proofTransport(call)
        let login = try sealed.map { sealed in
            guard let login = context.requests.open(sealed) else {
                throw RequestProblem.invalid("r", "is not a request of this server")
            }
            return login
        }
        let browserFlow = flow(call, transport)
        return try await answer(call, purpose, login, sealed, browserFlow.secret, transport) { page in
            var response = try await body(page)
            browserFlow.set(transport, on: &response)
            return response
        }
    }

    /// Answers a request for a page after the mail was sent, in the browser that had it sent. Any other one begins anew.
    func sentProofPage(
        _ call: Call, _ purpose: MailboxPurpose, _ sealed: String?,
        _ body: (SentProofPage) async throws -> Response
    ) async throws -> Response {
        let transport = try proofTransport(call)
        guard let sealed, let carried = context.requests.openVerification(sealed), carried.purpose == purpose.rawValue,
            let id = Identifier<Verification>(carried.id)
        else { throw RequestProblem.invalid("r", "is not a request of this server") }
        guard let flow = call.flowSecrets(transport).first(where: { $0.browser == carried.browser }) else {
            return redirect(to: purpose.askPath.carrying(carried.login.flatMap(context.requests.seal)))
        }
        return try await answer(call, purpose, carried.login, sealed, flow, transport) { page in
            let handle = VerificationHandle(id: id, asker: VerificationAsker(browser: flow.text))
            return try await body(SentProofPage(page: page, carried: carried, handle: handle))
        }
    }

    /// How the browser reached a page that exists only where the server sends mails.
    func proofTransport(_ call: Call) throws -> PageTransport {
        guard context.mails != nil else { throw ServiceError.notFound("page") }
        guard let transport = call.transport else { throw RequestProblem.needsTLS }
        if call.request.method == .post { try checkOrigin(call) }
        return transport
    }

    private func answer(
        _ call: Call, _ purpose: MailboxPurpose, _ login: CarriedRequest?, _ sealed: String?, _ flow: FlowSecret,
        _ transport: PageTransport, _ body: (ProofPage) async throws -> Response
    ) async throws -> Response {
        if let login, !login.isTimely(at: context.clock.now) { return try await expiredPage(login.request, call) }
        let request = login?.request
        let isOfApp = request?.isOfAccountPages == false
        let client = isOfApp ? try await services.pageLogin.client(request?.clientID ?? "") : nil
        guard !isOfApp || client != nil else {
            throw RequestProblem.invalid("r", "is not a request of this server")
        }
        guard takesProofs(for: purpose, of: client, request) else { throw ServiceError.notFound("page") }
        return try await body(
            ProofPage(
                call: call, transport: transport, purpose: purpose, flow: flow, sealed: sealed, login: login,
                sealedLogin: login.flatMap(context.requests.seal), client: client,
                app: client.map { app($0, request) }))
    }

    /// Whether the client has that page for its request; nil: the account pages, or no request.
    func takesProofs(
        for purpose: MailboxPurpose, of client: Client?, _ request: AuthorizationRequest?
    ) -> Bool {
        guard context.mails != nil else { return false }
        return switch purpose {
        case .signUp:
            context.accountRules.takesSignUps(for: client)
                && (offers(.password, client, request) || context.passkeys != nil && offers(.passkey, client, request))
        case .signIn: request.map { client?.page.offers(.email, for: $0) ?? false } ?? false
        case .reset: true
        case .email: false
        }
    }

    /// Whether the client takes that way to log in for its request; nil: the account pages, or no request.
    func offers(_ method: Client.LoginMethod, _ client: Client?, _ request: AuthorizationRequest?) -> Bool {
        let registration = client?.page ?? .ofAccountPages
        return request.map { registration.offers(method, for: $0) } ?? registration.offers(method)
    }

    /// What a mail says of the browser that asked: its name, and the place of its address.
    func mailFacts(_ call: Call, _ language: PageLanguage) -> [String: String] {
        var facts: [String: String] = [:]
        facts["browser"] = call.userAgent.map { Device.shownName(of: $0) }
        facts["place"] = call.caller.remoteAddress.flatMap { placeName($0, in: language) }
        return facts
    }
}

extension PageCookie {
    /// How long a browser carries a verification beside its URL: as long as the link of a mail is good.
    static let verificationLifetime = Duration.seconds(3600)
}

extension VerificationMessage {
    /// The status of a page with this message.
    var status: Status {
        switch self {
        case .stale(let stale): stale.status
        case .sentAgain: .ok
        case .notAMailbox, .mailboxRefused, .sameMailbox, .wrongCode, .codeOver: .unprocessable
        case .mailboxTaken: .conflict
        case .tooManyAttempts: .tooManyRequests
        case .unavailable: .serviceUnavailable
        }
    }

    /// What a page says of a refusal; nil for an error that is none of its form.
    init?(_ error: ServiceError) {
        switch error {
        case .emailNotSupported: self = .notAMailbox
        case .signUpClosed: self = .mailboxRefused
        case .conflict(code: "email_taken", _): self = .mailboxTaken
        case .invalidCode(let attemptsLeft): self = .wrongCode(triesLeft: attemptsLeft)
        case .verificationOver, .notFound: self = .codeOver
        case .tooManyRequests(let wait): self = .tooManyAttempts(seconds: Endpoints.seconds(of: wait))
        case .store(.unavailable), .overloaded, .passwordQueueFull: self = .unavailable
        default: return nil
        }
    }
}
