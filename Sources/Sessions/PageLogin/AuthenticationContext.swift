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

    /// The known words of `acr_values`, in their order; nil if it has none, because each value is voluntary (OpenID Connect Core
    /// section 3.1.2.1).
    public static func known(in values: String) -> [AuthenticationContext]? {
        var known: [AuthenticationContext] = []
        for word in values.split(separator: " ") {
            if let context = Self(rawValue: String(word)), !known.contains(context) { known.append(context) }
        }
        return known.isEmpty ? nil : known
    }

    private static let byPasskey: [AuthenticationContext] = [.phishingResistant, .presence]

    /// What a login by that method is, the word for it first; empty for a way without a word.
    static func all(of method: Client.LoginMethod) -> [AuthenticationContext] {
        switch method {
        case .password: [.password]
        case .passkey: byPasskey
        case .phone: [.phone]
        case .provider: [.identity]
        case .anonymous, .invitation: []
        }
    }

    fileprivate static let passkeyMethods: Set<String> = ["hwk", "swk"]
}

extension AuthorizationRequest {
    /// Whether a login by that method is what the request demands.
    public func takes(_ method: Client.LoginMethod) -> Bool {
        guard let contexts else { return true }
        return !Set(AuthenticationContext.all(of: method)).isDisjoint(with: contexts)
    }
}

extension PageLogin {
    /// The `acr` of the login: the first word that the request has asked for, or else the word for the way.
    var authenticationContext: AuthenticationContext? {
        let contexts = request.loginMethod.map(AuthenticationContext.all(of:)) ?? []
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
            } else {
                methods.contains("pwd") ? .password : nil
            }
    }

    var contexts: [AuthenticationContext] { method.map(AuthenticationContext.all(of:)) ?? [] }
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
        let key = authenticationMethods.filter { $0 != "pwd" && $0 != PhoneLogin.authenticationMethod }
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
        if case .key = proof, !methods.isEmpty {
            authenticationMethods.removeAll { $0 != "pwd" && $0 != PhoneLogin.authenticationMethod }
        }
        authenticationMethods += methods.filter { !authenticationMethods.contains($0) }
        note(proof, at: now)
    }
}
