/// How a user has authenticated on the server's page, in the words of `acr` (OpenID Connect Core section 2).
public enum AuthenticationContext: String, CaseIterable, Codable, Sendable {
    /// By a passkey. What it signs is of no use on the page of another host (OpenID EAP ACR Values 1.0: phishing-resistant).
    case phishingResistant = "phr"
    /// By a passkey as well: the word with which APIs demand a user who is present (RFC 9470).
    case presence
    /// By the password.
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

    /// What an authentication with these methods (RFC 8176) is, the word for it first; empty for a way without a word.
    static func all(of methods: [String], isByProvider: Bool) -> [AuthenticationContext] {
        // A provider may use the same words for its own methods.
        if isByProvider { return [.identity] }
        if methods.contains(where: Self.passkeyMethods.contains) { return byPasskey }
        if methods.contains(LoginSession.authenticationMethod) { return [.phone] }
        return methods.contains("pwd") ? [.password] : []
    }

    /// What a login by that word of `login_methods` is; empty for a way without a word.
    static func all(ofMethod word: String) -> [AuthenticationContext] {
        switch word {
        case HostedLogin.password: [.password]
        case HostedLogin.passkey: byPasskey
        case HostedLogin.phone: [.phone]
        default: HostedLogin.isProvider(word) ? [.identity] : []
        }
    }

    fileprivate static let passkeyMethods: Set<String> = ["hwk", "swk"]
}

extension AuthorizationRequest {
    /// Whether a login by that word of `login_methods` is what the request demands.
    public func takes(_ method: String) -> Bool {
        guard let contexts else { return true }
        return !Set(AuthenticationContext.all(ofMethod: method)).isDisjoint(with: contexts)
    }
}

extension Login {
    /// The `acr` of the login: the first word that the request has asked for, or else the word for the way.
    var authenticationContext: AuthenticationContext? {
        let contexts = AuthenticationContext.all(of: methods, isByProvider: request.isByProvider == true)
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
    let isByProvider: Bool

    var contexts: [AuthenticationContext] { AuthenticationContext.all(of: methods, isByProvider: isByProvider) }
}

extension Session {
    /// The authentications in a browser's session, the last one first.
    var pastAuthentications: [PastAuthentication] {
        if let at = presence.identityAt {
            return [PastAuthentication(methods: authenticationMethods, at: at, isByProvider: true)]
        }
        let key = authenticationMethods.filter { $0 != "pwd" }
        let all = [
            key.isEmpty
                ? nil
                : PastAuthentication(methods: key, at: presence.provenAt ?? startedAt, isByProvider: false),
            authenticationMethods.contains("pwd")
                ? PastAuthentication(methods: ["pwd"], at: presence.passwordAt ?? startedAt, isByProvider: false) : nil,
        ]
        return all.compactMap(\.self).sorted { $0.at > $1.at }
    }

    /// The authentication by which the session answers a request of a client with that registration: as recent as the request
    /// demands, in a way that the client offers and the request takes. Of several the one that the request prefers, or else the
    /// last one.
    func authentication(
        for request: AuthorizationRequest, by login: HostedLogin, at now: Instant
    ) -> PastAuthentication? {
        let offered = Set(login.loginMethods.flatMap(AuthenticationContext.all(ofMethod:)))
        let candidates = pastAuthentications.filter { past in
            if let age = request.maxAge, now - past.at > .seconds(age) { return false }
            return !offered.isDisjoint(with: past.contexts)
        }
        guard let wanted = request.contexts else { return candidates.first }
        return wanted.lazy.compactMap { context in candidates.first { $0.contexts.contains(context) } }.first
    }

    /// Notes that the user has authenticated once more in the browser, maybe in another way.
    mutating func noteAuthentication(by methods: [String], _ proof: PresenceProof, at now: Instant) {
        // The session has one time for a proof by key, so it keeps the methods of the last one alone.
        if case .key = proof, !methods.isEmpty { authenticationMethods.removeAll { $0 != "pwd" } }
        authenticationMethods += methods.filter { !authenticationMethods.contains($0) }
        note(proof, at: now)
    }
}
