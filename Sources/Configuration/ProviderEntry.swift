internal import Cryptography
public import Federation
internal import HTTPClient
internal import JSON
internal import Sessions

/// An entry of `identity_providers`.
extension ListEntry {
    mutating func provider() -> IdentityProvider {
        let isPlain = flag("allow_http_on_loopback")
        let name = text("name", "1 to 64 lower-case letters, digits and hyphens") { Identity.Key.isValid(provider: $0) }
        let issuer = text("issuer", "the iss of the provider's tokens, an https URL") {
            OutboundURL($0, plainLoopback: isPlain) != nil
        }
        var provider = IdentityProvider(name: name ?? "", issuer: issuer ?? "", audiences: audiences())
        if name == nil { requireMember("name") }
        if issuer == nil { requireMember("issuer") }
        provider.keysURL = url("jwks_uri", isPlain)
        provider.discoveryURL = url("discovery_uri", isPlain)
        if provider.keysURL != nil, provider.discoveryURL != nil {
            problems.append("\(path) has jwks_uri and discovery_uri: leave one out")
        }
        if provider.keysURL == nil, provider.discoveryURL == nil, let issuer {
            let base = issuer.hasSuffix("/") ? String(issuer.dropLast()) : issuer
            provider.discoveryURL = OutboundURL(
                base + "/.well-known/openid-configuration", plainLoopback: isPlain)
        }
        if let algorithms = algorithms() { provider.algorithms = algorithms }
        if let nonce = word("nonce", as: IdentityProvider.NonceRequirement.self) { provider.nonce = nonce }
        if let form = word("nonce_form", as: IdentityProvider.NonceForm.self) { provider.nonceForm = form }
        let ageMax = Int(FederationService.identityTokenAgeMax.wholeSeconds) - 120
        if let age = seconds("token_age_seconds", 30...ageMax) { provider.tokenAge = age }
        if let lifetime = seconds("key_lifetime_seconds", 60...604_800) { provider.keyLifetime = lifetime }
        if let stale = seconds("stale_key_seconds", 0...2_592_000) { provider.staleKeyLifetime = stale }
        provider.authorities = text("ca_file", "a path") { !$0.isEmpty && !$0.utf8.contains(0) }
        provider.linksByProvenEmail = flag("link_by_proven_email")
        provider.trustsMFA = flag("trusts_mfa")
        readClaims(into: &provider.claims)
        let client = ClientMembers(
            tokenURL: url("token_endpoint", isPlain),
            id: text("client_id", "the id of a client") { Text.isValid($0, lengthMax: 256) },
            secretFile: text("client_secret_file", "a path") { !$0.isEmpty && !$0.utf8.contains(0) },
            authentication: word("client_authentication", as: IdentityProvider.ClientAuthentication.self) ?? .basic)
        provider.redirect = redirect(client, isPlain, name: provider.name, discovers: provider.discoveryURL != nil)
        provider.recheck = recheck(client, hasRedirect: provider.redirect != nil)
        return provider
    }

    /// The members about this server's client at the provider, which logins by redirect and rechecks share.
    private struct ClientMembers {
        let tokenURL: OutboundURL?
        let id: String?
        let secretFile: String?
        let authentication: IdentityProvider.ClientAuthentication
    }

    /// Reads the members for logins by redirect; none of them is valid without `redirect`.
    private mutating func redirect(
        _ client: ClientMembers, _ isPlain: Bool, name: String, discovers: Bool
    ) -> IdentityProvider.Redirect? {
        var redirect = IdentityProvider.Redirect(clientID: client.id ?? "", title: name)
        redirect.tokenURL = client.tokenURL
        redirect.clientSecretFile = client.secretFile
        redirect.clientAuthentication = client.authentication
        if let title = text("display_name", "a name to show", isValid: { Text.isValid($0, lengthMax: 64) }) {
            redirect.title = title
        }
        redirect.authorizationURL = url("authorization_endpoint", isPlain)
        if let scope = text("scope", "scopes with openid", isValid: { Scope($0)?.tokens.contains("openid") == true }) {
            redirect.scope = scope
        }
        if value("force_login") != nil { redirect.forcesLogin = flag("force_login") }
        redirect.requiresAuthenticationTime = flag("require_auth_time")
        guard flag("redirect") else {
            for name in Self.redirectNames where value(name) != nil {
                problems.append("\(path).\(name) is for a provider with redirect")
            }
            return nil
        }
        requireMember("client_id")
        if !discovers, redirect.authorizationURL == nil || redirect.tokenURL == nil {
            problems.append(
                "\(path) has redirect and jwks_uri: it needs authorization_endpoint and token_endpoint as well")
        }
        return redirect
    }

    private static let redirectNames = [
        "display_name", "authorization_endpoint", "scope", "force_login", "require_auth_time",
    ]

    /// Reads the members for rechecks; none of them is valid without the interval.
    private mutating func recheck(_ client: ClientMembers, hasRedirect: Bool) -> IdentityProvider.Recheck? {
        let interval = seconds("recheck_interval_seconds", 300...2_592_000)
        let outage = seconds("recheck_outage_seconds", 0...2_592_000)
        let terms = RecheckTerms(
            interval: interval ?? .zero, outageBudget: outage ?? interval ?? .zero, isRequired: flag("recheck_required")
        )
        var recheck = IdentityProvider.Recheck(terms: terms)
        recheck.tokenURL = client.tokenURL
        recheck.clientID = client.id
        recheck.clientSecretFile = client.secretFile
        recheck.clientAuthentication = client.authentication
        recheck.takesNoIDToken = flag("recheck_without_id_token")
        if let concurrency = number("recheck_concurrency", 1...64) { recheck.concurrency = concurrency }
        if let rate = number("recheck_rate", 1...1000) { recheck.rate = rate }
        if interval != nil {
            if hasRedirect, recheck.terms.isRequired {
                problems.append("\(path) has redirect and recheck_required: a login by redirect is not rechecked")
            }
            return recheck
        }
        for name in Self.recheckNames + (hasRedirect ? [] : Self.clientNames) where value(name) != nil {
            let isShared = Self.clientNames.contains(name)
            problems.append(
                "\(path).\(name) is for a provider with recheck_interval_seconds\(isShared ? " or redirect" : "")")
        }
        return nil
    }

    private static let recheckNames = [
        "recheck_outage_seconds", "recheck_required", "recheck_without_id_token", "recheck_concurrency", "recheck_rate",
    ]
    private static let clientNames = ["token_endpoint", "client_id", "client_secret_file", "client_authentication"]

    private mutating func audiences() -> [String] {
        guard let value = value("audiences") else {
            problems.append("\(path).audiences is missing")
            return []
        }
        if let audiences = value.strings, !audiences.isEmpty,
            audiences.allSatisfy({ Text.isValid($0, lengthMax: 256) })
        {
            return audiences
        }
        refuse("audiences", "a list of the ids that the apps have at the provider", value)
        return []
    }

    private mutating func algorithms() -> [VerificationAlgorithm]? {
        guard let value = value("algorithms") else { return nil }
        if let names = value.strings, !names.isEmpty {
            let algorithms = names.compactMap(VerificationAlgorithm.init(rawValue:))
            if algorithms.count == names.count { return algorithms }
        }
        let known = VerificationAlgorithm.allCases.map { "\"\($0.rawValue)\"" }.joined(separator: ", ")
        refuse("algorithms", "a list of some of \(known)", value)
        return nil
    }

    private mutating func readClaims(into claims: inout IdentityProvider.ClaimNames) {
        guard let value = value("claims") else { return }
        guard case .object(let names) = value else { return refuse("claims", "an object", value) }
        let known: [String: WritableKeyPath<IdentityProvider.ClaimNames, String?>] = [
            "username": \.username, "email": \.email, "phone_number": \.phoneNumber, "display_name": \.displayName,
            "given_name": \.givenName, "family_name": \.familyName, "country": \.country,
        ]
        for (member, name) in names.sorted(by: { $0.key < $1.key }) {
            guard let path = known[member] else {
                problems.append("\(path).claims: unknown key \(member)")
                continue
            }
            switch name {
            case .null: claims[keyPath: path] = nil
            case .string(let claim) where Text.isValid(claim, lengthMax: 128): claims[keyPath: path] = claim
            default: refuse("claims.\(member)", "the name of a claim, or null", name)
            }
        }
    }
}

extension ConfigurationKey {
    static let identityProviders = objects(
        "identity_providers", "a list of objects with name, issuer and audiences, in the file", \.identityProviders,
        read: { entries, report in
            ListEntry.all("identity_providers", entries, name: \.name, report: report) { $0.provider() }
        }, name: \.name)
}

extension ServerConfiguration {
    /// The names of the providers with rechecks.
    public var recheckedProviders: [String] { identityProviders.filter { $0.recheck != nil }.map(\.name) }
}

extension IdentityProvider {
    static let secretVariablePrefix = "SOJOURN_CLIENT_SECRET_"

    /// The variable of the environment that can hold the client secret of this server at the provider:
    /// `SOJOURN_CLIENT_SECRET_` and the name in capitals, with underscores for hyphens.
    public var secretVariable: String {
        Self.secretVariablePrefix + name.uppercased().replacing("-", with: "_")
    }
}
