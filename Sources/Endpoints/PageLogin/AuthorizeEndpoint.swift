internal import Cryptography
internal import HTTP
internal import OAuth
internal import Pages
internal import Sessions

/// The authorization endpoint (RFC 6749 section 3.1, OpenID Connect Core section 3.1.2). It stores nothing: the browser carries
/// the sealed request to the login page.
extension Endpoints {
    /// `GET /oauth/authorize` and `POST /oauth/authorize`: leads to the login page, or answers the client. An error is a page
    /// as long as the client or its redirect URI is unknown, and an answer to the client from then on.
    func authorize(_ call: Call) async throws -> Response {
        let parameters = try AuthorizationParameters(call)
        if let query = parameters.query, lacksCookies(call), query.utf8.count <= SealedRequests.lengthMax {
            return Self.redirect(to: "\(context.url(Self.authorizationPath))?\(query)")
        }
        let clientID = parameters.repeats("client_id") ? nil : parameters["client_id"]
        let client = try await clientID.asyncFlatMap { try await services.pageLogin.client($0) }
        if !parameters.repeats("request_uri"), let uri = parameters["request_uri"],
            uri.hasPrefix(AuthorizationParameters.requestURIPrefix)
        {
            return try await start(try pushedRequest(uri, of: client), of: client, call)
        }
        let (known, redirectURI) = try parameters.destination(client)
        let (state, id) = (parameters["state"], Hex.encode(context.random.bytes(16)))
        do throws(RequestProblem) {
            let request = try parameters.request(
                id: id, of: known, to: redirectURI, ownAudience: context.audience, pageMethods: pageMethods,
                hint: services.pageLogin.hint)
            if known.page.requiresPushedRequests {
                throw parameters.refusal(
                    .authorization(.invalidRequest, "The client has to push its requests (RFC 9126)."), of: known)
            }
            return try await start(CarriedRequest(request, at: context.clock.now), of: known, call)
        } catch {
            return refusal(error, to: redirectURI, state: state, call)
        }
    }

    /// Whether the request is a form of another site, with which a browser sends no cookie (SameSite). It goes on as a GET, with
    /// which the browser sends the cookie of its session.
    private func lacksCookies(_ call: Call) -> Bool {
        let site = call.request.fields.first("Sec-Fetch-Site")
        return call.request.method == .post && (site == "cross-site" || site == "same-site")
    }

    /// The pushed request with that name. The client that names it has to be the one that pushed it.
    private func pushedRequest(_ uri: String, of client: Client?) throws -> CarriedRequest {
        let sealed = String(uri.dropFirst(AuthorizationParameters.requestURIPrefix.count))
        guard let carried = context.requests.openPushed(sealed), let client, carried.request.clientID == client.id
        else { throw RequestProblem.invalid("request_uri", "is not that of a pushed request of this client") }
        return carried
    }

    /// Leads to the login page. A request for which no page may be shown is answered at once.
    private func start(
        _ carried: CarriedRequest, of client: Client?, _ call: Call
    ) async throws(RequestProblem) -> Response {
        let request = carried.request
        let now = context.clock.now
        if request.isPushed == true, !carried.isTimely(at: now, within: CarriedRequest.pushedLifetime) {
            return answer(.invalidRequestURI, "The pushed request has expired.", to: request)
        }
        if let transport = call.transport {
            do throws(ServiceError) {
                let browser = browser(call, transport)
                if let approval = try await services.pageLogin.reuse(carried, in: browser, from: call.origin) {
                    return answer(approval, to: request, transport)
                }
            } catch {
                log(error, .seeOther, call)
                return answer(to: error, of: request)
            }
        }
        if request.isSilent { return answer(.loginRequired, "The user has to log in.", to: request) }
        if request.wantsAccount {
            guard takesProofs(for: .signUp, of: client, request) else {
                throw .authorization(.invalidRequest, "prompt=create is not supported: the client takes no sign-ups.")
            }
            guard let sealed = context.requests.seal(CarriedRequest(request, at: now)) else {
                throw .authorization(.invalidRequest, "The request is too long.")
            }
            return redirect(to: PagePath.signUp.carrying(sealed))
        }
        guard let sealed = context.requests.seal(CarriedRequest(request, at: now)) else {
            throw .authorization(.invalidRequest, "The request is too long.")
        }
        return redirect(to: .loginPage(sealed))
    }

    /// The refusal of a request, sent to the client.
    private func refusal(
        _ problem: RequestProblem, to redirectURI: String, state: String?, _ call: Call
    ) -> Response {
        let (code, detail): (ErrorCode, String) =
            if case .authorization(let code, let detail) = problem.plain { (code, detail) } else {
                (.serverError, Self.internalText)
            }
        log(problem, .seeOther, call)
        return answer(code, detail, to: redirectURI, state: state)
    }

    /// An error as the answer to a request (RFC 6749 section 4.1.2.1).
    func answer(_ code: ErrorCode, _ description: String, to request: AuthorizationRequest) -> Response {
        answer(code, description, to: request.redirectURI, state: request.state)
    }

    private func answer(_ code: ErrorCode, _ description: String, to uri: String, state: String?) -> Response {
        answer(to: uri, [("error", code.rawValue), ("error_description", description)], state: state)
    }

    /// The code as the answer to a request (section 4.1.2).
    func answer(code: String, to request: AuthorizationRequest) -> Response {
        answer(to: request.redirectURI, [("code", code)], state: request.state)
    }

    /// An answer with `state`, and with `iss`, by which the client recognizes an answer of another server (RFC 9207).
    private func answer(to uri: String, _ parameters: [(String, String)], state: String?) -> Response {
        let all = parameters + (state.map { [("state", $0)] } ?? []) + [("iss", context.issuer)]
        let query = all.map { "\($0)=\(PercentEncoding.encode($1))" }.joined(separator: "&")
        return Self.redirect(to: uri + (uri.contains("?") ? "&" : "?") + query)
    }

    /// The answer 303: the browser continues with a GET, and does not send the form of a POST again.
    static func redirect(to location: String) -> Response {
        Response(
            status: .seeOther,
            fields: ["Location": location, "Cache-Control": "no-store", "Referrer-Policy": "no-referrer"]
        )
    }
}

extension Route {
    static let authorize = Route(
        .get, Endpoints.authorizationPath, errorFormat: .page, .open { try await $0.authorize($1) },
        Operation(
            "authorize", .loginPage, "Start a login",
            """
            RFC 6749 section 4.1.1, OpenID Connect Core section 3.1.2. The app opens this in the system's \
            browser. PKCE with `S256` is required. Every answer goes to the redirect URI with `state` and `iss` \
            (RFC 9207): a `code`, or an `error`. Nothing is stored before the user has logged in.
            """,
            parameters: [
                "response_type", "client_id.authorize", "redirect_uri", "code_challenge", "code_challenge_method",
                "scope", "state", "nonce", "prompt", "max_age", "login_hint", "id_token_hint", "ui_locales",
                "acr_values", "dpop_jkt", "resource", "request_uri",
            ],
            answers: [
                .redirect("To the login page, or with the answer to the client."), .unknownRequest,
            ]))

    static let authorizeByForm = Route(
        .post, Endpoints.authorizationPath, errorFormat: .page, .open { try await $0.authorize($1) },
        Operation(
            "authorizeByForm", .loginPage, "Start a login by a form",
            "As the GET, with the parameters in a form.",
            takes: .form,
            answers: [
                .redirect("To the login page, or with the answer to the client."), .unknownRequest,
            ],
            without: [403]))
}
