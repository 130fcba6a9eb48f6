internal import HTTP
internal import OAuth
internal import Sessions

/// The parameters of an authorization request (RFC 6749 section 4.1.1), before they are checked.
struct AuthorizationParameters {
    /// The prefix of a pushed request's name (RFC 9126 section 2.2).
    static let requestURIPrefix = "urn:ietf:params:oauth:request_uri:"

    let pairs: [FormPair]

    init(_ pairs: [FormPair]) { self.pairs = pairs }

    /// The parameters of the query of a GET, or of the form of a POST (OpenID Connect Core section 3.1.2.1).
    init(_ call: Call) throws {
        let isForm = call.request.method == .post
        if isForm, try !call.isForm() { throw RequestProblem.unsupportedMediaType }
        do throws(FormError) {
            pairs = isForm ? try FormDecoder.decode(call.request.body) : try call.request.queryItems()
        } catch {
            throw RequestProblem.unreadable("The request cannot be read.")
        }
    }

    /// The value of a parameter; nil if it is absent or empty.
    subscript(_ name: String) -> String? {
        pairs.first { $0.name == name && !$0.value.isEmpty }?.value
    }

    /// All values of a parameter.
    func all(_ name: String) -> [String] { pairs.filter { $0.name == name && !$0.value.isEmpty }.map(\.value) }

    /// Returns true if the parameter stands more than once.
    func repeats(_ name: String) -> Bool { pairs.count { $0.name == name } > 1 }

    /// The first parameter that stands more than once, although it must not (RFC 6749 section 3.1).
    private var repeated: String? { pairs.first { $0.name != "resource" && repeats($0.name) }?.name }

    /// The client and its redirect URI. Until both are known, an error must not be sent anywhere (section 4.1.2.1).
    func destination(_ client: Client?) throws(RequestProblem) -> (client: Client, redirectURI: String) {
        if repeats("client_id") { throw .invalid("client_id", "must stand only once") }
        guard self["client_id"] != nil else { throw .invalid("client_id", "is missing") }
        guard let client else { throw .invalid("client_id", "names no client of this server") }
        if repeats("redirect_uri") { throw .invalid("redirect_uri", "must stand only once") }
        guard let uri = self["redirect_uri"] else { throw .invalid("redirect_uri", "is missing") }
        guard client.page.redirects(to: uri) else {
            throw .refused(
                ClientRefusal(
                    .invalidClient, of: client.id, sent: "redirect_uri \(ClientRefusal.quoted(uri))",
                    expected: client.page.redirectURIs.joined(separator: " ")),
                .invalid("redirect_uri", "is not registered for this client"))
        }
        return (client, uri)
    }

    /// The checked request. Every error can be sent to the client; for the log it says what the client sent.
    func request(
        id: String, of client: Client, to redirectURI: String, ownAudience: String, pageMethods: [Client.LoginMethod],
        hint: (String) -> IDTokenHint?
    ) throws(RequestProblem) -> AuthorizationRequest {
        do throws(RequestProblem) {
            return try checkedRequest(
                id: id, of: client, to: redirectURI, ownAudience: ownAudience, pageMethods: pageMethods, hint: hint)
        } catch { throw refusal(error, of: client) }
    }

    /// The refusal of the request with what the client sent.
    func refusal(_ problem: RequestProblem, of client: Client) -> RequestProblem {
        guard case .authorization(_, let detail) = problem else { return problem }
        return .refused(
            ClientRefusal(.invalidClient, of: client.id, sent: words, expected: detail), problem)
    }

    /// What a log says of the request: the kind of answer, the scope and how it is protected, without the protecting values.
    private var words: String {
        let challenge = self["code_challenge"].map { "of \($0.utf8.count) bytes" } ?? "none"
        return """
            response_type \(quoted("response_type")), scope \(quoted("scope")), code_challenge \(challenge), \
            code_challenge_method \(quoted("code_challenge_method")), nonce \(self["nonce"] == nil ? "none" : "present")
            """
    }

    private func quoted(_ name: String) -> String { self[name].map(ClientRefusal.quoted) ?? "none" }

    private func checkedRequest(
        id: String, of client: Client, to redirectURI: String, ownAudience: String, pageMethods: [Client.LoginMethod],
        hint: (String) -> IDTokenHint?
    ) throws(RequestProblem) -> AuthorizationRequest {
        if let repeated { throw .authorization(.invalidRequest, "\(repeated) must stand only once.") }
        try checkForm()
        guard client.grantTypes.contains(.authorizationCode) else {
            throw .authorization(.unauthorizedClient, "The client may not use the login page.")
        }
        var request = AuthorizationRequest(
            id: id, clientID: client.id, redirectURI: redirectURI, codeChallenge: try challenge(of: client))
        request.state = self["state"]
        request.nonce = try text("nonce", 512)
        request.scope = try scope(of: client)
        try checkNonce(of: request, client)
        request.resources = try resources(of: client, ownAudience)
        request.prompts = try prompts()
        request.maxAge = try maxAge()
        request.contexts = try text("acr_values", 512).flatMap { AuthenticationContext.known(in: $0) }
        request.uiLocales = try text("ui_locales", 256)
        request.loginHint = try text("login_hint", User.loginNameLengthMax)
        request.keyThumbprint = try keyThumbprint()
        if let token = self["id_token_hint"] {
            guard let hint = hint(token), hint.audience == client.id else {
                throw .authorization(.invalidRequest, "id_token_hint is not an ID token of this server for the client.")
            }
            request.hintedUser = hint.subject
        }
        guard request.contexts == nil || pageMethods.contains(where: { client.page.offers($0, for: request) })
        else {
            throw .authorization(
                .unmetAuthenticationRequirements, "The client offers no login that meets acr_values.")
        }
        return request
    }

    private func checkForm() throws(RequestProblem) {
        if self["request"] != nil { throw .authorization(.requestNotSupported, "Request objects are not supported.") }
        if self["request_uri"] != nil {
            throw .authorization(.requestURINotSupported, "request_uri must be that of a pushed request.")
        }
        if self["registration"] != nil {
            throw .authorization(.registrationNotSupported, "Clients register with the admin only.")
        }
        guard let type = self["response_type"] else {
            throw .authorization(.invalidRequest, "response_type is missing.")
        }
        guard type == "code" else { throw .authorization(.unsupportedResponseType, "response_type must be code.") }
        guard ["query", nil].contains(self["response_mode"]) else {
            throw .authorization(.invalidRequest, "response_mode must be query.")
        }
    }

    /// The PKCE challenge (RFC 7636 section 4.3). Without a method it would be that of `plain`.
    private func challenge(of client: Client) throws(RequestProblem) -> String? {
        guard let challenge = self["code_challenge"] else {
            guard client.page.pkce == .optional, self["code_challenge_method"] == nil else {
                throw .authorization(.invalidRequest, "code_challenge is missing (RFC 7636).")
            }
            return nil
        }
        guard self["code_challenge_method"] == "S256" else {
            throw .authorization(.invalidRequest, "code_challenge_method must be S256.")
        }
        guard PKCE.isChallenge(challenge) else {
            throw .authorization(.invalidRequest, "code_challenge must be the base64url of 32 bytes.")
        }
        return challenge
    }

    /// Without PKCE the client recognizes a code that was injected by the nonce in its ID token (RFC 9700 section 2.1.1).
    private func checkNonce(of request: AuthorizationRequest, _ client: Client) throws(RequestProblem) {
        guard request.codeChallenge == nil else { return }
        let scope = request.scope.flatMap { Scope($0) } ?? client.scope
        guard request.nonce != nil, scope.tokens.contains("openid") else {
            throw .authorization(
                .invalidRequest, "code_challenge is missing (RFC 7636), or a nonce with the scope openid.")
        }
    }

    private func scope(of client: Client) throws(RequestProblem) -> String? {
        guard let text = self["scope"] else { return nil }
        guard let requested = Scope(text) else { throw .authorization(.invalidScope, "The scope is malformed.") }
        guard let scope = client.part(of: requested) else {
            throw .authorization(.invalidScope, "The client can have nothing of the scope.")
        }
        return scope.description
    }

    private func resources(of client: Client, _ ownAudience: String) throws(RequestProblem) -> [String] {
        var resources: [String] = []
        for resource in all("resource") where !resources.contains(resource) {
            guard resource == ownAudience || client.resources.contains(resource) else {
                throw .authorization(.invalidTarget, Endpoints.targetText)
            }
            resources.append(resource)
        }
        return resources
    }

    private func prompts() throws(RequestProblem) -> [AuthorizationRequest.Prompt] {
        var prompts: [AuthorizationRequest.Prompt] = []
        for word in (self["prompt"] ?? "").split(separator: " ") {
            guard let prompt = AuthorizationRequest.Prompt(rawValue: String(word)) else {
                throw .authorization(.invalidRequest, "prompt has a word that is not supported.")
            }
            prompts.append(prompt)
        }
        if prompts.contains(.none), prompts.count > 1 {
            throw .authorization(.invalidRequest, "prompt must not have another word beside none.")
        }
        return prompts
    }

    private func maxAge() throws(RequestProblem) -> Int64? {
        guard let text = self["max_age"] else { return nil }
        guard let age = QueryParameters.number(text) else {
            throw .authorization(.invalidRequest, "max_age must be a number of seconds.")
        }
        return age
    }

    private func keyThumbprint() throws(RequestProblem) -> String? {
        guard let thumbprint = self["dpop_jkt"] else { return nil }
        guard PKCE.isChallenge(thumbprint) else {
            throw .authorization(.invalidRequest, "dpop_jkt must be a SHA-256 thumbprint in base64url.")
        }
        return thumbprint
    }

    private func text(_ name: String, _ lengthMax: Int) throws(RequestProblem) -> String? {
        guard let text = self[name] else { return nil }
        guard Text.isValid(text, lengthMax: lengthMax) else {
            throw .authorization(
                .invalidRequest, "\(name) must have 1 to \(lengthMax) bytes and no control characters.")
        }
        return text
    }
}

extension Call {
    /// Returns true if the content is a form.
    func isForm() throws -> Bool { try hasContentType("application/x-www-form-urlencoded") }
}
