// The whole rule on second factors at the start of a session: pure, so that a test shows it as a table, method by way by policy,
// and the manual prints the same table.

/// Decides whether a proof of the user suffices for a session, or a second factor is asked for beside it.
public enum SecondFactorDecision: Hashable, Sendable {
    /// The session starts, with that mark.
    case start(SecondFactorMark?)
    /// A second factor that the user has is asked for. There is no session before it.
    case ask
    /// The user adds an authenticator first. There is no session before it.
    case enrol
    /// This way takes no second factor, and the policy demands one.
    case refuse

    /// A way to prove the user at the start of a session.
    public enum Method: String, CaseIterable, Sendable {
        case password
        case passkey
        /// An identity provider with a word for two factors that counts here (`trusts_mfa`, `amr` `mfa`).
        case providerWithFactor = "provider_mfa"
        /// An identity provider otherwise.
        case provider
        /// A code or link by e-mail.
        case email
        /// A phone that approves the login of another device.
        case phone
        case invitation
        case anonymous
        /// A backend or an admin vouches for the user: a session that is minted, imported or moved in.
        case backend

        /// Whether the method is two factors by itself.
        var isMultiFactor: Bool {
            switch self {
            case .passkey, .providerWithFactor: true
            case .password, .provider, .email, .phone, .invitation, .anonymous, .backend: false
            }
        }

        /// Whether a code can come beside it.
        var takesCode: Bool {
            switch self {
            case .password, .provider, .email: true
            case .passkey, .providerWithFactor, .phone, .invitation, .anonymous, .backend: false
            }
        }
    }

    /// What comes beside the first proof.
    public enum Second: String, CaseIterable, Sendable {
        case nothing
        /// The code of an authenticator.
        case totp
        case recoveryCode = "recovery_code"
    }

    /// What is known of the user.
    public struct Standing: Hashable, Sendable {
        /// Whether there is a confirmed authenticator.
        public let hasAuthenticator: Bool
        /// Whether there is a passkey.
        public let hasPasskey: Bool
        /// What an admin has decided for the user; nil: nothing.
        public let requirement: UserDetails.SecondFactorRequirement?
        /// Whether the user is made together with the session: there is nothing yet that a second factor would guard.
        public let isNew: Bool

        /// A standing.
        public init(
            hasAuthenticator: Bool, hasPasskey: Bool, requirement: UserDetails.SecondFactorRequirement? = nil,
            isNew: Bool = false
        ) {
            (self.hasAuthenticator, self.hasPasskey) = (hasAuthenticator, hasPasskey)
            (self.requirement, self.isNew) = (requirement, isNew)
        }
    }

    /// The decision on a proof by `method`, with what comes beside it.
    public static func decide(
        _ method: Method, beside second: Second, policy: SecondFactorPolicy, of user: Standing
    ) -> SecondFactorDecision {
        if method.isMultiFactor { return .start(.multiFactor) }
        let policy = policy.applied(to: user.requirement)
        if method.takesCode {
            // An e-mail is never a factor, so that a code beside it makes no two (NIST SP 800-63B-4 section 3.1.3.1).
            switch second {
            case .totp where method == .email: if !policy.demandsFactor { return .start(nil) }
            case .totp: return .start(.multiFactor)
            case .recoveryCode where method == .email: if !policy.demandsFactor { return .start(nil) }
            case .recoveryCode: return .start(.recoveryCode)
            case .nothing: break
            }
        }
        // An exempt session says so, because a refresh reads no decision about its user.
        let mark: SecondFactorMark? = user.requirement == .exempt ? .exempt : nil
        switch policy {
        case .off: return .start(mark)
        case .ifEnrolled: return method.takesCode && user.hasAuthenticator ? .ask : .start(mark)
        case .requiredAtLogin, .required:
            switch method {
            case .password where user.isNew, .provider where user.isNew, .invitation where user.isNew:
                return .start(mark)
            case .password, .provider: return user.hasAuthenticator || user.hasPasskey ? .ask : .enrol
            case .email, .phone, .invitation, .anonymous: return .refuse
            // Another system vouches for the user. `required` asks at the first refresh.
            case .backend: return .start(mark)
            case .passkey, .providerWithFactor: return .start(.multiFactor)
            }
        }
    }
}

/// A word in the authentication methods of a session that says how it stands to second factors.
public enum SecondFactorMark: Hashable, Sendable {
    /// Two factors were proved. The word is `mfa` (RFC 8176), with the time of the last such proof after `@`.
    case multiFactor
    /// A recovery code stood in for the second factor. The session meets the policy, and is no proof of two factors.
    case recoveryCode
    /// An admin has exempted the user from policies.
    case exempt

    static let multiFactorPrefix = "mfa@"

    /// The word as it is stored.
    func word(at now: Instant) -> String {
        switch self {
        case .multiFactor: Self.multiFactorPrefix + "\(now.secondsSinceEpoch)"
        case .recoveryCode: "recovery_code"
        case .exempt: "exempt"
        }
    }

    /// Whether `word` is one that only this server writes. An identity provider's methods are freed of them.
    static func isMark(_ word: String) -> Bool {
        word.utf8.contains(UInt8(ascii: "@")) || word == SecondFactorMark.recoveryCode.word(at: .zero)
            || word == SecondFactorMark.exempt.word(at: .zero)
    }
}

extension Instant {
    fileprivate static let zero = Instant(secondsSinceEpoch: 0)
}

extension SecondFactorPolicy {
    /// Whether there is no session before a second factor.
    public var demandsFactor: Bool { self == .requiredAtLogin || self == .required }

    /// The policy for a user with that decision of an admin. An exempt user with an authenticator is still asked for it.
    func applied(to requirement: UserDetails.SecondFactorRequirement?) -> SecondFactorPolicy {
        switch requirement {
        case .required?: max(self, .requiredAtLogin)
        case .exempt?: demandsFactor ? .ifEnrolled : self
        case nil: self
        }
    }
}

extension Settings {
    /// The policy for a client: the stricter one of the settings' and the client's. Both are in memory.
    func secondFactorPolicy(for client: Client?) -> SecondFactorPolicy {
        max(secondFactorPolicy, client?.secondFactorPolicy ?? secondFactorPolicy)
    }
}
