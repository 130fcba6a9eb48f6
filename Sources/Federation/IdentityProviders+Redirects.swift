public import Sessions
internal import Telemetry

extension IdentityProviders {
    /// The providers to which the login page can lead, in the order of the configuration.
    public var redirectProviders: [RedirectProvider] {
        members.compactMap { member in
            member.redirectClient.map {
                RedirectProvider(
                    name: member.provider.name, title: $0.redirect.title, forcesLogin: $0.redirect.forcesLogin)
            }
        }
    }

    /// The URL of the provider for a request. Throws `identityProviderUnavailable` if the provider's endpoints are unknown.
    public func url(of request: ProviderRequest) async throws(ServiceError) -> String {
        let (_, client) = try redirectMember(request.provider)
        do throws(FetchError) { return try await client.url(of: request) } catch {
            log(error.sentence, request.provider)
            throw .identityProviderUnavailable
        }
    }

    /// Exchanges the code of an answer, and verifies the ID token.
    public func identity(by callback: ProviderCallback) async throws(ServiceError) -> ExternalIdentity {
        try await counted { () async throws(ServiceError) in try await identityOfAnswer(callback) }
    }

    private func identityOfAnswer(_ callback: ProviderCallback) async throws(ServiceError) -> ExternalIdentity {
        let (member, client) = try redirectMember(callback.provider)
        // Before the code is sent anywhere, because that of another provider must not reach this one (RFC 9207).
        let isOwn: Bool
        do throws(FetchError) { isOwn = try await client.isIssuer(callback.issuer) } catch {
            log(error.sentence, callback.provider)
            throw .identityProviderUnavailable
        }
        guard isOwn else { throw .identityRefused(.issuer) }
        guard let code = callback.code else { throw .identityRefused(.declined) }
        switch await client.exchange(code, of: callback) {
        case .tokens(let idToken?, _):
            let checked = Member(
                provider: client.provider, keys: member.keys, tokenEndpoint: nil, redirectClient: nil)
            return try await check(try Self.parse(idToken), of: checked) { (claims, now) throws(ServiceError) in
                try claims.check(nonce: callback.nonce, at: now)
                if let since = callback.authenticatedSince {
                    try claims.check(
                        authenticatedSince: since, isRequired: client.redirect.requiresAuthenticationTime)
                }
            }
        case .tokens(nil, _):
            log("the answer to a code has no ID token", callback.provider)
            throw .identityRefused(.malformed)
        case .refused: throw .identityRefused(.codeRefused)
        case .failed(let cause, _):
            log(cause, callback.provider)
            throw .identityProviderUnavailable
        }
    }

    private func redirectMember(_ name: String) throws(ServiceError) -> (Member, RedirectClient) {
        guard let member = members.first(where: { $0.provider.name == name }), let client = member.redirectClient else {
            throw .identityRefused(.unknownProvider)
        }
        return (member, client)
    }

    private func log(_ cause: String, _ provider: String) {
        logger.warning(
            "an identity provider completes no login of the login page",
            ["provider": .string(provider), "cause": .string(cause)])
    }
}
