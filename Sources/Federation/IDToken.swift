internal import Cryptography
internal import JOSE
internal import JSON
internal import Sessions

/// The claims of an ID token (OpenID Connect Core §2).
struct IDToken: Sendable {
    private let claims: [String: JSONValue]
    private let provider: IdentityProvider
    private let key: Identity.Key
    private let expiry: Int64
    private let issuedAt: Int64

    /// Reads the claims that every ID token has. They must not be trusted before the signature is verified.
    init(_ claims: [String: JSONValue]?, of provider: IdentityProvider) throws(ServiceError) {
        guard let claims else { throw .identityRefused(.malformed) }
        guard claims["iss"]?.isSame(as: provider.issuer) == true else { throw .identityRefused(.issuer) }
        // Logout tokens, and Keycloak's access tokens, have the same key, issuer and audience, but they are no ID
        // tokens.
        guard claims["events"] == nil, claims["typ"] == nil || claims["typ"]?.string == "ID",
            let expiry = claims["exp"]?.seconds, let issuedAt = claims["iat"]?.seconds,
            claims["nbf"] == nil || claims["nbf"]?.seconds != nil
        else { throw .identityRefused(.malformed) }
        guard let subject = claims["sub"]?.string, let key = Identity.Key(provider: provider.name, subject: subject)
        else { throw .identityRefused(.subject) }
        self.claims = claims
        self.provider = provider
        self.key = key
        self.expiry = expiry
        self.issuedAt = issuedAt
    }

    /// Checks audience, times and nonce.
    func check(nonce: String?, at now: Instant) throws(ServiceError) {
        try check(at: now)
        try check(nonce: nonce)
    }

    /// Checks audience and times.
    func check(at now: Instant) throws(ServiceError) {
        try checkAudience()
        let (now, leeway) = (now.secondsSinceEpoch, IdentityProvider.leeway)
        guard now - leeway < expiry else { throw .identityRefused(.expired) }
        guard now < goodUntil else { throw .identityRefused(.tooOld) }
        guard issuedAt <= now + leeway, (claims["nbf"]?.seconds ?? 0) <= now + leeway else {
            throw .identityRefused(.notYet)
        }
    }

    /// Checks that one audience is a configured client ID. The authorized party (`azp`) must be one too, if it is present or if
    /// there are several audiences.
    private func checkAudience() throws(ServiceError) {
        guard let audiences = Self.audiences(claims) else { throw .identityRefused(.audience) }
        guard audiences.contains(where: isAccepted) else { throw .identityRefused(.audience) }
        if audiences.count > 1 || claims["azp"] != nil {
            guard let party = claims["azp"]?.string, isAccepted(party) else { throw .identityRefused(.audience) }
        }
    }

    private func isAccepted(_ audience: String) -> Bool { provider.isAudience(audience) }

    /// Returns the `aud` of a token; nil if it is malformed.
    static func audiences(_ claims: [String: JSONValue]) -> [String]? {
        switch claims["aud"] {
        case .string(let only): return [only]
        case .array(let values):
            let audiences = values.compactMap(\.string)
            return audiences.count == values.count ? audiences : nil
        default: return nil
        }
    }

    /// The client ID that the token was issued to: `azp` if present, otherwise the configured audience.
    private var clientID: String {
        claims["azp"]?.string ?? Self.audiences(claims)?.first(where: isAccepted) ?? provider.audiences[0]
    }

    private func check(nonce: String?) throws(ServiceError) {
        if provider.nonce == .ignored { return }
        let expected = nonce.map { provider.nonceForm == .plain ? $0 : Hex.encode(sha256(Array($0.utf8))) }
        switch (claims["nonce"], expected) {
        case (nil, nil) where provider.nonce == .optional: break
        case (let nonce?, let expected?) where nonce.isSame(as: expected): break
        default: throw .identityRefused(.nonce)
        }
    }

    /// The first second at which the token is refused as too old or expired.
    private var goodUntil: Int64 {
        let oldest = issuedAt.addingReportingOverflow(provider.tokenAge.wholeSeconds + IdentityProvider.leeway)
        let end = expiry.addingReportingOverflow(IdentityProvider.leeway)
        return min(oldest.overflow ? .max : oldest.partialValue, end.overflow ? .max : end.partialValue)
    }

    /// Returns the identity of the token, after its signature over `payload` was verified.
    func identity(payload: [UInt8]) throws(ServiceError) -> ExternalIdentity {
        let provenEmail = claims["email_verified"]?.isTrue == true ? claims["email"]?.string : nil
        var identity = ExternalIdentity(
            key, username: username(provenEmail: provenEmail), profile: profile,
            linkingEmail: provider.linksByProvenEmail ? provenEmail : nil, authenticationMethods: methods,
            tokenID: Hex.encode(sha256(payload)),
            goodUntil: Instant(secondsSinceEpoch: goodUntil), clientID: clientID, recheck: provider.recheck?.terms)
        identity.isMultiFactor = provider.trustsMFA && methods.contains("mfa")
        identity.hasAuthenticationTime = authenticationTime != nil
        identity.authenticatedAt = authenticatedAt.map { Instant(secondsSinceEpoch: $0) }
        return identity
    }

    /// `auth_time`; nil without that claim.
    private var authenticationTime: Int64? { claims["auth_time"]?.seconds }

    /// Checks that the user has authenticated since that time, if the token tells when.
    ///
    /// - Parameter isRequired: whether a token that does not tell is refused.
    func check(authenticatedSince time: Instant, isRequired: Bool) throws(ServiceError) {
        guard claims["auth_time"] != nil || isRequired else { return }
        guard let authenticationTime else { throw .identityRefused(.noAuthenticationTime) }
        guard authenticationTime >= time.secondsSinceEpoch - IdentityProvider.leeway else {
            throw .identityRefused(.providerDidNotAsk)
        }
    }

    /// When the user authenticated at the provider: `auth_time`. Without that claim it is the time of issue, if the app's nonce
    /// shows that the token was issued for its request.
    private var authenticatedAt: Int64? {
        if let time = claims["auth_time"] { return time.seconds.map { min($0, issuedAt) } }
        return claims["nonce"] != nil && provider.nonce != .ignored ? issuedAt : nil
    }

    /// Returns the username claim if it can be a username. A name with `@` is accepted only if it is the verified
    /// e-mail address and `Text.emailKey` accepts it.
    private func username(provenEmail: String?) -> String? {
        guard let name = text(provider.claims.username),
            Text.problem(withUsername: name) == nil
        else { return nil }
        // A wide @ becomes an @; a combining mark after it makes another character of it.
        guard Text.preparedUsername(name).unicodeScalars.contains("@") else { return name }
        let isProven = provenEmail?.utf8.elementsEqual(name.utf8) ?? false
        return isProven && Text.emailKey(name) != nil ? name : nil
    }

    /// The profile. Claims that a profile cannot hold are skipped, so that a provider's mistake does not prevent
    /// logins.
    private var profile: User.Profile {
        var profile = User.Profile()
        func take(_ member: WritableKeyPath<User.Profile, String?>, _ claim: String?, unless denial: String? = nil) {
            guard let text = text(claim), denial.map({ claims[$0]?.isTrue != false }) ?? true else { return }
            var tried = profile
            tried[keyPath: member] = text
            if tried.isSound { profile = tried }
        }
        take(\.email, provider.claims.email, unless: "email_verified")
        take(\.phoneNumber, provider.claims.phoneNumber, unless: "phone_number_verified")
        take(\.displayName, provider.claims.displayName)
        take(\.givenName, provider.claims.givenName)
        take(\.familyName, provider.claims.familyName)
        take(\.country, provider.claims.country)
        return profile
    }

    /// The authentication methods (`amr`, RFC 8176) that the provider reports, if access tokens can hold them. None is
    /// added, because no method of RFC 8176 stands for another server's authentication.
    private var methods: [String] {
        guard case .array(let values)? = claims["amr"], values.count <= 8 else { return [] }
        let methods = values.compactMap(\.string).filter {
            (1...32).contains($0.utf8.count) && $0.utf8.allSatisfy { (0x21...0x7E).contains($0) }
        }
        return methods.count == values.count ? methods : []
    }

    /// Returns the text of a claim. Of several texts, such as `emails` of Azure AD B2C, it returns the first.
    private func text(_ claim: String?) -> String? {
        switch claim.flatMap({ claims[$0] }) {
        case .string(let text): text
        case .array(let values): values.first?.string
        default: nil
        }
    }
}

extension IdentityProvider {
    /// Returns true if the value is a configured client ID.
    func isAudience(_ audience: String) -> Bool {
        audiences.contains { JSONValue.string(audience).isSame(as: $0) }
    }
}

extension JSONValue {
    /// Compares a JSON string code point by code point (RFC 7519 §2, StringOrURI), because `==` also equates different
    /// texts that look alike.
    fileprivate func isSame(as text: String) -> Bool { string.map { $0.utf8.elementsEqual(text.utf8) } ?? false }

    /// The seconds of a NumericDate, which may have a fraction (RFC 7519 §2).
    fileprivate var seconds: Int64? {
        switch self {
        case .integer(let number): number
        case .number(let number): Int64(exactly: number.rounded(.down))
        default: nil
        }
    }

    /// The value as a truth value. Apple writes truth values as strings.
    fileprivate var isTrue: Bool? {
        switch self {
        case .bool(let truth): truth
        case .string("true"): true
        case .string("false"): false
        default: nil
        }
    }
}
