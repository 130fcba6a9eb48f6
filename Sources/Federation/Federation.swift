// Federation: the users of identity providers, and the rechecks of their sessions.
//
// Owns: the checks of an ID token (OpenID Connect Core §3.1.3.7, RFC 8725), the keys of the providers and their
// fetching, the claims that become a profile, the logins by redirect, and the rechecks at a provider's token endpoint.
//
// Must not know: how the store keeps users and sessions, and how a token arrives. `Sessions` creates users from
// identities; `Endpoints` reads requests.
//
// Reading order: IdentityProvider, IdentityProviders, IDToken, ProviderKeys, ProviderDocuments; Rechecks with
// TokenEndpoint and IdentityProviders+Rechecks, which ask a provider again; RedirectClient with
// IdentityProviders+Redirects, to which the login page sends browsers.

public import HTTPClient
internal import JOSE
internal import JSON
public import Sessions
public import Telemetry

/// The identity providers of the configuration.
public struct IdentityProviders: IdentityVerifier {
    struct Member: Sendable {
        let provider: IdentityProvider
        let keys: ProviderKeys
        /// The token endpoint for rechecks; nil if the provider has none configured.
        let tokenEndpoint: TokenEndpoint?
        /// This server as a client of the provider; nil if the login page does not lead to it.
        let redirectClient: RedirectClient?
    }

    let members: [Member]
    let clock: WallClock
    let logger: Logger
    private let accepted: [String: Counter]
    private let refused: [IdentityRefusal: Counter]
    private let unavailable: Counter

    /// Creates the providers. Their names must be unique.
    public init(
        _ providers: [IdentityProvider], client: HTTPClient, clock: WallClock, metrics: MetricsRegistry, logger: Logger
    ) {
        let names = providers.map(\.name)
        let fetches = metrics.counters(
            "sojourn_identity_key_fetches_total", help: "Fetches of an identity provider's keys, by outcome.",
            labels: [MetricLabel("provider", values: names), MetricLabel("outcome", values: FetchError.words)])
        members = providers.map { provider in
            Member(
                provider: provider,
                keys: ProviderKeys(
                    provider, clock: clock,
                    fetch: { () async throws(FetchError) in try await ProviderDocuments(provider, client).keys() },
                    note: { problem in
                        fetches[provider.name, problem?.word ?? "fetched"].increment()
                        guard let problem else { return }
                        logger.warning(
                            "the keys of an identity provider cannot be fetched",
                            ["provider": .string(provider.name), "cause": .string(problem.sentence)])
                    }),
                tokenEndpoint: provider.recheck.map { TokenEndpoint(provider, $0, clock: clock) },
                redirectClient: provider.redirect.map { RedirectClient(provider, $0, clock: clock) })
        }
        self.clock = clock
        self.logger = logger
        let tokens = metrics.counters(
            "sojourn_identity_tokens_total", help: "ID tokens that were accepted, by provider.",
            labels: [MetricLabel("provider", values: names)])
        accepted = Dictionary(uniqueKeysWithValues: names.map { ($0, tokens[$0]) })
        let refusals = metrics.counters(
            "sojourn_identity_tokens_refused_total", help: "ID tokens that were refused, by reason.",
            labels: [MetricLabel("reason", values: IdentityRefusal.allCases.map(\.rawValue) + ["unavailable"])])
        refused = Dictionary(uniqueKeysWithValues: IdentityRefusal.allCases.map { ($0, refusals[$0.rawValue]) })
        unavailable = refusals["unavailable"]
    }

    /// The names of the providers.
    public var providerNames: Set<String> { Set(members.map(\.provider.name)) }

    /// Verifies an ID token of a login. Throws `identityRefused` with the reason, or `identityProviderUnavailable`.
    public func verify(_ token: IdentityToken) async throws(ServiceError) -> ExternalIdentity {
        try await counted { () async throws(ServiceError) in try await check(token) }
    }

    /// Runs the verification of a token, and counts its outcome.
    func counted(
        _ body: () async throws(ServiceError) -> ExternalIdentity
    ) async throws(ServiceError) -> ExternalIdentity {
        do throws(ServiceError) {
            let identity = try await body()
            accepted[identity.key.provider]?.increment()
            return identity
        } catch {
            if case .identityRefused(let reason) = error {
                refused[reason]?.increment()
            } else {
                unavailable.increment()
            }
            throw error
        }
    }

    private func check(_ token: IdentityToken) async throws(ServiceError) -> ExternalIdentity {
        let unverified = try Self.parse(token.text)
        let member = try member(token.provider, unverified)
        return try await check(unverified, of: member) { (claims, now) throws(ServiceError) in
            try claims.check(nonce: token.nonce, at: now)
        }
    }

    static func parse(_ text: String) throws(ServiceError) -> UnverifiedJWT {
        do throws(JWTError) { return try JWT.parse(text) } catch {
            throw .identityRefused(error == .unsupportedAlgorithm ? .algorithm : .malformed)
        }
    }

    /// Returns the identity of a provider's token, if `checkClaims` accepts its claims and its signature is valid.
    func check(
        _ unverified: UnverifiedJWT, of member: Member, _ checkClaims: (IDToken, Instant) throws(ServiceError) -> Void
    ) async throws(ServiceError) -> ExternalIdentity {
        guard member.provider.algorithms.contains(unverified.header.alg) else { throw .identityRefused(.algorithm) }
        // Claims are checked before the signature, so that expired or foreign tokens cause no key fetch.
        let unverifiedToken = try IDToken(unverified.unverifiedClaims, of: member.provider)
        try checkClaims(unverifiedToken, clock.now)
        guard let key = try await member.keys.key(unverified.header.kid) else { throw .identityRefused(.unknownKey) }
        let verified: VerifiedJWT
        do throws(JWTError) { verified = try unverified.verify(using: { _ in key }, type: .jwtOrAbsent) } catch {
            switch error {
            case .algorithmMismatch: throw .identityRefused(.algorithm)
            case .invalidSignature: throw .identityRefused(.signature)
            default: throw .identityRefused(.malformed)
            }
        }
        return try unverifiedToken.identity(payload: verified.payload)
    }

    /// Returns the provider with that name. Without a name, it returns the only provider with the token's issuer, or
    /// the only one among several with an audience of the token.
    private func member(_ name: String?, _ token: UnverifiedJWT) throws(ServiceError) -> Member {
        let claims = token.unverifiedClaims
        var found = members.filter {
            name == nil ? $0.provider.issuer == claims?["iss"]?.string : $0.provider.name == name
        }
        if found.count > 1 {
            let audiences = claims.flatMap(IDToken.audiences) ?? []
            found = found.filter { audiences.contains(where: $0.provider.isAudience) }
            if found.isEmpty { throw .identityRefused(.audience) }
        }
        guard found.count == 1, let member = found.first else { throw .identityRefused(.unknownProvider) }
        return member
    }
}
