/// How a user has authenticated on the server's page, in the words of `acr` (OpenID Connect Core section 2).
public enum AuthenticationContext: String, CaseIterable, Codable, Sendable {
    /// By a passkey. What it signs is of no use on the page of another host (OpenID EAP ACR Values 1.0: phishing-resistant).
    case phishingResistant = "phr"
    /// By a passkey as well: the word with which APIs demand a user who is present (RFC 9470).
    case presence
    case password
    /// At an identity provider.
    case identity = "id_token"
    /// By a phone, which has approved the login.
    case phone
    /// By a code or link that was sent to the mailbox.
    case email
    /// By two factors.
    case multiFactor = "mfa"

    /// The known words of `acr_values`, in their order; nil if it has none, because each value is voluntary (OpenID Connect Core
    /// section 3.1.2.1).
    public static func known(in values: String) -> [AuthenticationContext]? {
        var known: [AuthenticationContext] = []
        for word in values.split(separator: " ") {
            if let context = Self(rawValue: String(word)), !known.contains(context) { known.append(context) }
        }
        return known.isEmpty ? nil : known
    }

    /// What a login by that method is, with what its authentication methods say of a second factor.
    static func all(of method: Client.LoginMethod?, _ methods: [String]) -> [AuthenticationContext] {
        let own = method.map(all(of:)) ?? []
        let isMultiFactor = methods.contains { $0.hasPrefix(SecondFactorMark.multiFactorPrefix) }
        return isMultiFactor && !own.contains(.multiFactor) ? own + [.multiFactor] : own
    }

    private static let byPasskey: [AuthenticationContext] = [.phishingResistant, .presence, .multiFactor]

    /// What a login by that method is, the word for it first; empty for a way without a word.
    static func all(of method: Client.LoginMethod) -> [AuthenticationContext] {
        switch method {
        case .password: [.password]
        case .passkey: byPasskey
        case .phone: [.phone]
        case .email: [.email]
        case .provider: [.identity]
        case .anonymous, .invitation: []
        }
    }

    static let passkeyMethods: Set<String> = ["hwk", "swk"]
}

extension AuthorizationRequest {
    /// Whether a login by that method is what the request demands.
    public func takes(_ method: Client.LoginMethod) -> Bool {
        guard let contexts else { return true }
        // A second factor can come beside these.
        if contexts.contains(.multiFactor), SecondFactorDecision.Method(method).takesCode { return true }
        return !Set(AuthenticationContext.all(of: method)).isDisjoint(with: contexts)
    }
}

extension PageLogin {
    /// The `acr` of the login: the first word that the request has asked for, or else the word for the way.
    var authenticationContext: AuthenticationContext? {
        let contexts = AuthenticationContext.all(of: request.loginMethod, methods)
        return request.contexts?.first(where: contexts.contains) ?? contexts.first
    }

    /// When the session that the code starts counts as started.
    var sessionStart: Instant { request.sessionStart.map { Instant(secondsSinceEpoch: $0) } ?? authenticatedAt }
}

/// One of the authentications that a browser's session remembers: the last one by password, by key
/// (a passkey or a phone) and at a provider.
struct PastAuthentication: Hashable, Sendable {
    /// How (RFC 8176).
    let methods: [String]
    let at: Instant
    /// The method of the login; nil if the session does not say which, as of a provider without a name.
    let method: Client.LoginMethod?
    /// The login with the phone that let the browser in; nil: the user has authenticated in another way.
    var phoneLogin: PhoneLogin?

    /// An authentication of a browser's session, by a provider if there is one.
    init(methods: [String], at: Instant, provider: ProviderConfirmation?) {
        (self.methods, self.at) = (methods, at)
        method = provider.map { .provider($0.provider) }
    }

    /// An authentication by password, passkey or phone. A provider may use the same words of RFC 8176 for its own methods.
    init(methods: [String], at: Instant) {
        (self.methods, self.at) = (methods, at)
        method =
            if methods.contains(where: AuthenticationContext.passkeyMethods.contains) {
                .passkey
            } else if methods.contains(PhoneLogin.authenticationMethod) {
                .phone
            } else if methods.contains(VerificationProof.authenticationMethod) {
                .email
            } else {
                methods.contains("pwd") ? .password : nil
            }
    }

    var contexts: [AuthenticationContext] { AuthenticationContext.all(of: method, methods) }
}

extension Session {
    /// The authentications in a browser's session, the last one first.
    ///
    /// - Parameter phoneLogins: the logins in which a phone let the browser in, the latest first. Their times are in their rows,
    ///   because a phone does not renew the presence of a session that began in another way.
    func pastAuthentications(_ phoneLogins: [PhoneLogin]) -> [PastAuthentication] {
        let phone = phoneLogins.first.map { login in
            var past = PastAuthentication(
                methods: [PhoneLogin.authenticationMethod], at: login.approvedAt ?? login.startedAt)
            past.phoneLogin = login
            return past
        }
        if let at = presence.identityAt {
            return [PastAuthentication(methods: authenticationMethods, at: at, provider: confirmation)]
        }
        let key = authenticationMethods.filter {
            !["pwd", "otp", PhoneLogin.authenticationMethod].contains($0) && !SecondFactorMark.isMark($0)
        }
        let all = [
            phone,
            key.isEmpty
                ? nil
                : PastAuthentication(methods: key, at: presence.provenAt ?? startedAt),
            authenticationMethods.contains("pwd")
                ? PastAuthentication(methods: ["pwd"], at: presence.passwordAt ?? startedAt) : nil,
        ]
        // The times are in seconds. Of two in one second, that of the phone counts, which is worth less.
        return all.compactMap(\.self).sorted { one, other in
            one.at != other.at ? one.at > other.at : one.phoneLogin != nil && other.phoneLogin == nil
        }
    }

    /// The authentication by which the session answers a request of a client with that registration: as recent as the request
    /// demands, in a way that the client offers and the request takes. Of several the one that the request prefers, or else the
    /// last one.
    func authentication(
        for request: AuthorizationRequest, by login: PageRegistration, phoneLogins: [PhoneLogin] = [], at now: Instant
    ) -> PastAuthentication? {
        let candidates = pastAuthentications(phoneLogins).filter { past in
            if let age = request.maxAge, now - past.at > .seconds(age) { return false }
            return past.method.map(login.offers) ?? false
        }
        guard let wanted = request.contexts else { return candidates.first }
        return wanted.lazy.compactMap { context in candidates.first { $0.contexts.contains(context) } }.first
    }

    /// Notes that the user has authenticated once more in the browser, maybe in another way.
    mutating func noteAuthentication(by methods: [String], _ proof: PresenceProof, at now: Instant) {
        // The session has one time for a proof by key, so it keeps the methods of the last one alone.
        if proof == .key || proof == .passkey, !methods.isEmpty {
            authenticationMethods.removeAll {
                $0 != "pwd" && $0 != PhoneLogin.authenticationMethod && !SecondFactorMark.isMark($0)
            }
        }
        takeMarks(of: methods)
        authenticationMethods += methods.filter { !authenticationMethods.contains($0) }
        // A code by mail is no factor, so that it renews no proof of two.
        if proof == .key, methods.contains(VerificationProof.authenticationMethod) {
            presence.provenAt = now
        } else {
            note(proof, at: now)
        }
    }
}
