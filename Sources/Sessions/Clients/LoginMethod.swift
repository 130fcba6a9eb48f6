extension Client {
    /// A way in which users authenticate when a session is opened: a word of `login_methods`.
    ///
    /// Renewals, proofs of presence, sessions that an admin mints and imported tokens authenticate no user anew, so that they have
    /// no word.
    public enum LoginMethod: Hashable, Sendable {
        case password
        case passkey
        /// A phone, which approves the login of a browser, of another device, or of a web session of its own app.
        case phone
        /// The identity provider with that name in the configuration: its ID token, or the way through its page.
        case provider(String)
        /// None: the login makes an anonymous user.
        case anonymous
        /// An invitation of an admin.
        case invitation
        /// A code or link by mail. A client has to name it, because it is no stronger than the mailbox.
        case email

        /// Every method but those by a provider.
        public static let withoutProviders: [LoginMethod] = [
            .password, .passkey, .phone, .anonymous, .invitation, .email,
        ]
    }

    /// Why a login by that method opens no session; nil if the client takes it. Every use case that opens a session asks this in
    /// its transaction; some ask before as well, so that no password is hashed in vain.
    public func refusal(of method: LoginMethod) -> ServiceError? {
        page.allows(method) ? nil : .loginMethodRefused(method)
    }

    /// Why a login that comes by that grant opens no session; nil if the client has the grant, or the login needs none.
    public func refusal(of grant: GrantType?) -> ServiceError? {
        grant.flatMap { grantTypes.contains($0) ? nil : .grantMissing($0) }
    }
}

extension Client.LoginMethod: RawRepresentable, Codable {
    private static let providerPrefix = "provider:"

    /// The method with that word; nil if there is none.
    public init?(rawValue: String) {
        if let method = Self.withoutProviders.first(where: { $0.rawValue == rawValue }) {
            self = method
        } else if rawValue.hasPrefix(Self.providerPrefix),
            Identity.Key.isValid(provider: String(rawValue.dropFirst(Self.providerPrefix.count)))
        {
            self = .provider(String(rawValue.dropFirst(Self.providerPrefix.count)))
        } else {
            return nil
        }
    }

    /// The word of `login_methods`.
    public var rawValue: String {
        switch self {
        case .password: "password"
        case .passkey: "passkey"
        case .phone: "phone"
        case .provider(let name): Self.providerPrefix + name
        case .anonymous: "anonymous"
        case .invitation: "invitation"
        case .email: "email"
        }
    }

    /// The name of the identity provider; nil for a method without one.
    public var provider: String? { if case .provider(let name) = self { name } else { nil } }
}
