internal import HTTP
internal import OAuth
internal import Sessions

extension Endpoints {
    static let backchannelPath = "/oauth/bc-authorize"

    /// `POST /oauth/bc-authorize` (OpenID Connect CIBA section 7.1): a backend requests a login of one user, and a phone of
    /// that user approves it.
    ///
    /// Beside the parameters of CIBA it takes `bond`, `ping_seconds`, `second_factor`, `announce_info` and `session_info`, and the
    /// answer has `login_id`.
    func authorizeByBackchannel(_ call: Call) async throws -> Response {
        let form = try call.form(repeatable: { _ in ["resource"] })
        let identity = try await clientIdentity(
            call, ClientParameters(form), audiences: [Self.backchannelPath, Self.tokenPath].map(context.url))
        let client = try await client(identity, call)
        guard !client.isPublic, client.grantTypes.contains(.backchannel) else { throw ServiceError.unauthorizedClient }
        do {
            return try await authorizeByBackchannel(form, client, call)
        } catch let error as ServiceError { throw rateLimiter.refusal(error, to: client) }
    }

    private func authorizeByBackchannel(_ form: FormParameters, _ client: Client, _ call: Call) async throws -> Response
    {
        try form.refuseUnsupported()
        var opening = PhoneLoginService.Opening(.backchannel, clientID: client.id)
        opening.scope = try form.scope(of: client)
        opening.resources = form.all("resource")
        opening.lifetime = try form.requestedLifetime()
        let message = try form.bindingMessage()
        try form.readRules(of: client, into: &opening)
        if opening.secondFactor == .notRequired {
            throw RequestProblem.invalid("second_factor", "must be required: no device proves itself in such a request")
        }
        let token = try form.notificationToken(client)
        let user = try await user(hintedIn: form, client)
        opening.backchannel = BackchannelRequest(
            to: user.id, scope: opening.scope, resources: opening.resources, bindingMessage: message,
            sealedToken: token.map(services.phoneLogins.seal(notificationToken:)))
        var origin = call.origin
        origin.actor = "client:\(client.id)"
        let opened = try await services.phoneLogins.open(opening, from: origin)
        return try .json(BackchannelAnswer(opened, now: context.clock.now))
    }

    /// The user of the one hint in the request (section 7.1). A confidential client may know whether there is one.
    private func user(hintedIn form: FormParameters, _ client: Client) async throws -> User {
        let hints = ["login_hint", "id_token_hint", "login_hint_token"].filter { form[$0] != nil }
        guard hints.count == 1 else {
            throw RequestProblem.unreadable("login_hint or id_token_hint must be there, and not both.")
        }
        var text = form["login_hint"]
        if let token = form["id_token_hint"] {
            guard let hint = services.pageLogin.hint(token), hint.audience == client.id else {
                throw RequestProblem.invalid("id_token_hint", "is not an ID token of this server for the client")
            }
            text = hint.subject
        }
        guard let text, let user = try await services.phoneLogins.user(hinted: text) else {
            throw RequestProblem.authorization(.unknownUserID, "There is no such user.")
        }
        if let refusal = user.loginRefusal { throw RequestProblem.authorization(.accessDenied, refusal.sentence) }
        return user
    }

    /// `grant_type=urn:openid:params:grant-type:ciba` (section 10.1): the session of a login that the user's phone has approved.
    func backchannelGrant(_ request: TokenRequest, _ identity: ClientIdentity, _ call: Call) async throws -> Response {
        let client = try await client(identity, call)
        if let refusal = client.refusal(of: .backchannel) { throw refusal }
        guard let secret = request.authRequestID else { throw RequestProblem.invalid("auth_req_id", "is missing") }
        return try await collected(request, for: client, by: .backchannel, secret: secret, call) {
            (login) throws(ServiceError) in
            let grant = try await services.phoneLogins.collect(
                secret, login, prefixes: [PhoneLoginService.backchannelPrefix], from: call.origin)
            return TokenAnswer.response(grant, idToken: try services.pageLogin.idToken(of: grant))
        }
    }
}

extension FormParameters {
    /// Throws for the parameters that only other servers support.
    fileprivate func refuseUnsupported() throws {
        for name in ["request", "user_code", "login_hint_token"] where self[name] != nil {
            throw RequestProblem.invalid(name, "is not supported")
        }
        guard let text = self["acr_values"] else { return }
        guard text.utf8.count <= 512, AuthenticationContext.known(in: text)?.contains(.phone) ?? true else {
            throw RequestProblem.authorization(
                .unmetAuthenticationRequirements, "A login by a phone does not meet acr_values.")
        }
    }

    /// What the client can have of the requested scope, which has to have `openid` (OpenID Connect CIBA section 7.1).
    fileprivate func scope(of client: Client) throws -> Scope {
        guard let text = self["scope"] else { throw RequestProblem.invalid("scope", "is missing") }
        guard let requested = Scope(text) else { throw ServiceError.invalidScope }
        guard requested.contains("openid") else { throw RequestProblem.invalid("scope", "must have openid") }
        guard let scope = client.part(of: requested), scope.contains("openid") else { throw ServiceError.invalidScope }
        return scope
    }

    /// How long the login waits for the user: `requested_expiry`, within the bounds of this server.
    fileprivate func requestedLifetime() throws -> Duration? {
        guard let text = self["requested_expiry"] else { return nil }
        guard let seconds = QueryParameters.number(text), seconds > 0 else {
            throw RequestProblem.invalid("requested_expiry", "must be a number of seconds, 1 at least")
        }
        let bounds = PhoneLoginRules.backchannelLifetimes
        return min(max(.seconds(seconds), bounds.lowerBound), bounds.upperBound)
    }

    /// The token with which the client recognizes pings (section 7.1); nil for a client that asks for the result.
    fileprivate func notificationToken(_ client: Client) throws -> String? {
        guard client.backchannel.deliveryMode == .ping else { return nil }
        guard let text = self["client_notification_token"] else {
            throw RequestProblem.invalid("client_notification_token", "is missing: the client has the mode ping")
        }
        guard BackchannelRequest.isValid(token: text) else {
            throw RequestProblem.invalid(
                "client_notification_token",
                "must be a bearer token of at most \(BackchannelRequest.tokenLengthMax) characters")
        }
        return text
    }

    fileprivate func bindingMessage() throws -> String? {
        guard let text = self["binding_message"] else { return nil }
        guard BackchannelRequest.isValid(message: text) else {
            throw RequestProblem.authorization(
                .invalidBindingMessage,
                "binding_message must have 1 to \(BackchannelRequest.messageLengthMax) plain characters.")
        }
        return text
    }
}

/// The answer to a backend (OpenID Connect CIBA section 7.3).
private struct BackchannelAnswer: Encodable {
    let authRequestID: String
    let expiresIn: Int64
    let interval: Int64
    let loginID: String

    init(_ opened: PhoneLoginService.Opened, now: Instant) {
        authRequestID = opened.secret ?? ""
        expiresIn = (opened.login.inputUntil - now).wholeSeconds
        interval = Endpoints.pollInterval.wholeSeconds
        loginID = opened.login.id.description
    }

    enum CodingKeys: String, CodingKey {
        case authRequestID = "auth_req_id"
        case expiresIn = "expires_in"
        case interval
        case loginID = "login_id"
    }
}

extension Route {
    static let authorizeByBackchannel = Route(
        .post, Endpoints.backchannelPath, errorFormat: .oauth, challenge: .basic, cors: .noOrigin,
        .open { try await $0.authorizeByBackchannel($1) },
        Operation(
            "authorize_by_backchannel", .oauth, "Request a login of a user",
            """
            OpenID Connect Client-Initiated Backchannel Authentication (CIBA), for confidential clients with the \
            grant `urn:openid:params:grant-type:ciba`. The user's phones find the login in their lists, and the \
            event `login_requested` goes to webhooks. The client shows the number that `GET \
            /v1/logins/{login_id}` has once a phone has claimed the login, and asks the token endpoint for its \
            tokens. At most three logins wait for one user: 429 beyond.
            """,
            takes: .form, answers: [.inline(200, "BackchannelLogin")], errors: [.oauthForbidden]))
}
