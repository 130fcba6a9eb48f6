internal import HTTP
internal import HTTPClient
internal import Sessions

/// This server as a client of one provider, for logins by redirect (OpenID Connect Core section 3.1). It has threads of its own, so
/// that logins that wait for keys do not wait for codes.
actor RedirectClient {
    private static let width = 8
    /// A browser waits for the answer.
    private static let deadline = Duration.seconds(10)

    private typealias Endpoints = (authorization: OutboundURL?, token: OutboundURL?, namesIssuer: Bool)

    /// The provider as the ID tokens of this client are checked: with the only audience and the nonce of the request.
    nonisolated let provider: IdentityProvider
    nonisolated let redirect: IdentityProvider.Redirect
    private let client: HTTPClient
    private let clock: WallClock
    private var discovered: (endpoints: Endpoints, at: Instant)?

    init(_ provider: IdentityProvider, _ redirect: IdentityProvider.Redirect, clock: WallClock) {
        var strict = provider
        (strict.audiences, strict.nonce, strict.nonceForm) = ([redirect.clientID], .required, .plain)
        self.provider = strict
        self.redirect = redirect
        self.clock = clock
        client = HTTPClient(HTTPClient.Options(width: Self.width))
    }

    /// The endpoints of the configuration, or else of the discovery document.
    private func endpoints() async throws(FetchError) -> Endpoints {
        let now = clock.now
        guard provider.discoveryURL != nil else { return (redirect.authorizationURL, redirect.tokenURL, false) }
        var known: Endpoints
        if let discovered, now >= discovered.at, now < discovered.at + provider.keyLifetime {
            known = discovered.endpoints
        } else {
            do throws(FetchError) {
                known = try await ProviderDocuments(provider, client).endpoints()
                discovered = (known, now)
            } catch {
                // The last known endpoints most likely still work.
                guard let discovered else { throw error }
                known = discovered.endpoints
            }
        }
        known.authorization = redirect.authorizationURL ?? known.authorization
        known.token = redirect.tokenURL ?? known.token
        return known
    }

    /// The URL to which the browser goes.
    func url(of request: ProviderRequest) async throws(FetchError) -> String {
        guard let url = try await endpoints().authorization?.description else { throw .otherOrigin }
        var parameters = [
            ("response_type", "code"), ("client_id", redirect.clientID), ("redirect_uri", request.redirectURI),
            ("scope", redirect.scope), ("state", request.state), ("nonce", request.nonce),
            ("code_challenge", request.codeChallenge), ("code_challenge_method", "S256"),
        ]
        if request.asksUser { parameters.append(("prompt", "login")) }
        if let maxAge = request.asksUser ? 0 : request.maxAge { parameters.append(("max_age", "\(maxAge)")) }
        if let hint = request.loginHint { parameters.append(("login_hint", hint)) }
        if let locales = request.uiLocales { parameters.append(("ui_locales", locales)) }
        let query = parameters.map { "\($0.0)=\(PercentEncoding.encode($0.1))" }.joined(separator: "&")
        return url + (url.contains("?") ? "&" : "?") + query
    }

    /// Whether an answer with that `iss` is the provider's (RFC 9207 section 2.4): a provider that promises `iss` sends it.
    func isIssuer(_ issuer: String?) async throws(FetchError) -> Bool {
        if let issuer { return issuer == provider.issuer }
        return try await !endpoints().namesIssuer
    }

    /// Exchanges the code of an answer (RFC 6749 section 4.1.3).
    func exchange(_ code: String, of callback: ProviderCallback) async -> TokenEndpointAnswer {
        let url: OutboundURL
        do throws(FetchError) {
            guard let found = try await endpoints().token else { throw .otherOrigin }
            url = found
        } catch {
            return .failed(error.sentence, mayHaveArrived: false)
        }
        let form = [
            ("grant_type", "authorization_code"), ("code", code), ("redirect_uri", callback.redirectURI),
            ("code_verifier", callback.codeVerifier),
        ]
        let sender = ProviderClient(
            id: redirect.clientID, secret: redirect.clientSecret, authentication: redirect.clientAuthentication)
        do throws(OutboundError) {
            return TokenEndpoint.read(
                try await client.send(
                    sender.request(url, form, deadline: Self.deadline, authorities: provider.authorities)))
        } catch {
            return .failed("no answer: \(error.word)", mayHaveArrived: false)
        }
    }
}
