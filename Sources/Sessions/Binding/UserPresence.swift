/// The record of a user's presence since the login of the session.
public struct UserPresence: Hashable, Sendable {
    /// The presence key as `DeviceKey.text`. The device asks for biometry before this key signs.
    public var key: String?
    /// The time at which the presence key, or a passkey of the user, last signed.
    public var provenAt: Instant?
    /// The time at which the password was last given after the login.
    public var passwordAt: Instant?
    /// The time at which the user last authenticated at an identity provider, by the login or by a later ID token. A session
    /// with such a time accepts ID tokens wherever it demands the user.
    public var identityAt: Instant?

    /// A record; empty by default.
    public init(
        key: String? = nil, provenAt: Instant? = nil, passwordAt: Instant? = nil, identityAt: Instant? = nil
    ) {
        self.key = key
        self.provenAt = provenAt
        self.passwordAt = passwordAt
        self.identityAt = identityAt
    }

    /// Whether the login registered a key that has not signed yet. Until it signs, the mode of the login cannot be changed,
    /// because the device may be unable to use the key.
    public var isActivationPending: Bool { key != nil && provenAt == nil }
}

/// How a request proves the user's presence.
public enum PresenceProof: Hashable, Sendable {
    /// An assertion of the presence key.
    case key
    /// An assertion of a passkey. Its authenticator verifies the user as well: two factors.
    case passkey
    /// The password with that hash, and the code of an authenticator: two factors. The check has used the code up.
    case passwordAndCode(hash: String?)
    /// The code of an authenticator, within five minutes of another first proof. The check has used the code up.
    case code
    /// The password with that hash.
    case password(hash: String?)
    /// An ID token of an identity of the user, who authenticated at the provider at that time. The check has used the token up.
    case identity(at: Instant)
}

/// The proof of the user's presence that a session requires before it is renewed (RFC 9470).
public struct PresenceRequirement: Hashable, Sendable {
    /// The ways to prove presence (`acr`), the preferred one first.
    public enum Way: String, CaseIterable, Sendable {
        /// An assertion of the presence key, or of a passkey.
        case presence
        case password
        /// An unused ID token of an identity of the user, with a recent authentication at its provider.
        case identity = "id_token"
        /// Two factors: a passkey, or the password and the code of an authenticator. The login alone is none.
        case multiFactor = "mfa"
    }

    /// The maximum age of the proof.
    public let ageMax: Duration
    /// The ways that meet the requirement.
    public private(set) var ways: [Way]
    /// Whether only a login helps, because the session has no presence key and its user neither a password nor, as far as the
    /// session knows, an identity.
    public private(set) var takesLogin = false
    /// The user, if only a passkey can spare them the login. No session knows whether its user has one.
    private(set) var passkeyOwner: Identifier<User>?

    /// The maximum age of a proof that allows a change of how the session is guarded.
    public static let ageMaxOfChanges = Duration.seconds(300)
    /// Every way.
    static let anyWay: [Way] = [.presence, .password, .identity]
    /// What a login takes.
    static let credentials: [Way] = [.password, .identity]
    /// What allows a change of how the session is guarded.
    static let ofChanges = PresenceRequirement(ageMax: ageMaxOfChanges, ways: anyWay)

    init(ageMax: Duration, ways: [Way]) {
        self.ageMax = ageMax
        self.ways = ways
    }

    /// The requirement as that session and its user can meet it.
    func asked(of user: User?, in session: Session) -> PresenceRequirement {
        let (hasPassword, hasIdentity) = (user?.passwordHash != nil, session.presence.identityAt != nil)
        var requirement = self
        requirement.ways = ways.filter { way in
            switch way {
            case .presence: true
            case .password: hasPassword || !hasIdentity
            case .identity: hasIdentity
            case .multiFactor: true
            }
        }
        requirement.takesLogin = !requirement.ways.contains { way in
            switch way {
            case .presence: session.presence.key != nil
            case .password: hasPassword
            case .identity: hasIdentity
            case .multiFactor: true
            }
        }
        if requirement.takesLogin, ways.contains(.presence) { requirement.passkeyOwner = user?.id }
        return requirement
    }

    /// The requirement for a user with a passkey, which spares the login.
    func metByPasskey() -> PresenceRequirement {
        var requirement = self
        (requirement.takesLogin, requirement.passkeyOwner) = (false, nil)
        return requirement
    }

    /// Whether `session` meets the requirement. A proof of this moment always does.
    func isMet(by session: Session, at now: Instant) -> Bool {
        if ways == [.multiFactor] { return session.multiFactorAt.map { isMet(byProofOf: $0, at: now) } ?? false }
        return isMet(byProofOf: session.lastShown(in: ways), at: now)
    }

    /// Whether a proof of that time meets the requirement.
    func isMet(byProofOf time: Instant, at now: Instant) -> Bool {
        let age = now - time
        return age <= .zero || age < ageMax
    }
}

extension AuthenticationMode {
    /// Whether `user` can meet the mode's requirement: a session that requires credentials which do not exist is stuck.
    ///
    /// - Parameter hasIdentity: whether the user has authenticated in this session at an identity provider.
    func suits(_ user: User?, hasIdentity: Bool) -> Bool {
        self != .password || user?.passwordHash != nil || hasIdentity
    }
}

extension Session {
    /// When presence was last proved in one of these ways. The login counts as each of them.
    func lastShown(in ways: [PresenceRequirement.Way]) -> Instant {
        ways.reduce(startedAt) { last, way in
            switch way {
            case .presence: max(last, presence.provenAt ?? last)
            case .password: max(last, presence.passwordAt ?? last)
            case .identity: max(last, presence.identityAt ?? last)
            case .multiFactor: max(last, multiFactorAt ?? last)
            }
        }
    }

    /// The time of the last authentication: the login or a later proof of presence.
    public var authenticatedAt: Instant { lastShown(in: PresenceRequirement.Way.allCases) }

    /// The way of the last authentication, if it was after the login (RFC 9470 section 6).
    public var authenticationContext: PresenceRequirement.Way? {
        var latest: (way: PresenceRequirement.Way, at: Instant)?
        if let at = presence.provenAt { latest = (.presence, at) }
        if let at = presence.passwordAt, at >= latest?.at ?? at { latest = (.password, at) }
        if let at = presence.identityAt, at > startedAt, at >= latest?.at ?? at { latest = (.identity, at) }
        // A passkey is both; the word of the way says more to an API.
        if let at = multiFactorAt, hasMultiFactorMark, at >= latest?.at ?? at,
            latest?.way != .presence || at > latest?.at ?? at
        {
            latest = (.multiFactor, at)
        }
        return latest?.way
    }

    /// Records a proof of the user's presence.
    mutating func note(_ proof: PresenceProof, at now: Instant) {
        switch proof {
        case .key:
            presence.provenAt = now
            renewMultiFactor(beside: lastPasswordAt, at: now)
        case .passkey:
            presence.provenAt = now
            note(.multiFactor, at: now)
        case .password:
            presence.passwordAt = now
            renewMultiFactor(beside: presence.key == nil ? nil : presence.provenAt, at: now)
        case .passwordAndCode:
            presence.passwordAt = now
            note(.multiFactor, at: now)
        case .code: note(.multiFactor, at: now)
        case .identity(let at): presence.identityAt = max(presence.identityAt ?? at, at)
        }
    }
}

extension RefreshPolicy {
    /// What a refresh lacks: the proof that the session's mode requires, or else the second factor that the policy demands.
    func unmetRequirement(
        of attempt: RefreshAttempt, on record: SessionRecord, at now: Instant
    ) -> PresenceRequirement? {
        let unmet = unmetPresenceRequirement(
            of: attempt, on: record.session, client: record.client, settings: record.settings, now: now)
        if lacksSecondFactor(record.session, client: record.client, settings: record.settings) { return .secondFactor }
        return unmet == nil ? nil : presenceRequirement(on: record)
    }

    /// The requirement of the session's mode, with what its user can do; nil: the session is renewed silently.
    func presenceRequirement(on record: SessionRecord) -> PresenceRequirement? {
        presenceRequirement(on: record.session, client: record.client, settings: record.settings)?
            .asked(of: record.user, in: record.session)
    }

    /// The requirement of the session's mode by today's settings; nil: the session is renewed silently.
    ///
    /// - `NO` requires nothing.
    /// - `BIOMETRIC` requires the presence key, or the user's credentials in its stead, when the client says how often.
    /// - `PASSWORD` requires the credentials whenever an access token is due for renewal, and more often if the client says so:
    ///   the password, or a login at the identity provider.
    private func presenceRequirement(
        on session: Session, client: Client?, settings: Settings
    ) -> PresenceRequirement? {
        let ageMax = client?.userPresenceMaxAge?.ifPositive
        switch session.authenticationMode {
        case .no: return nil
        case .biometric: return ageMax.map { PresenceRequirement(ageMax: $0, ways: PresenceRequirement.anyWay) }
        case .password:
            let refreshAfter = client?.refreshAfter?.ifPositive ?? settings.sessions.refreshAfter.ifPositive
            return PresenceRequirement(
                ageMax: [ageMax, refreshAfter].compactMap(\.self).min() ?? .zero, ways: PresenceRequirement.credentials)
        }
    }

    /// The requirement that `attempt` does not meet. A key that resumes the session by itself never meets that of `PASSWORD`,
    /// which takes the credentials in the same request, however recently they were given.
    func unmetPresenceRequirement(
        of attempt: RefreshAttempt, on session: Session, client: Client?, settings: Settings, now: Instant
    ) -> PresenceRequirement? {
        if session.authenticationMode == .no { return nil }
        guard let requirement = presenceRequirement(on: session, client: client, settings: settings) else { return nil }
        if attempt.isOfDeviceKey, session.authenticationMode == .password {
            switch attempt.presence {
            case .password, .passwordAndCode: return nil
            case .identity(let at): return requirement.isMet(byProofOf: at, at: now) ? nil : requirement
            case .key, .passkey, .code, nil: return requirement
            }
        }
        return requirement.isMet(by: session, at: now) ? nil : requirement
    }
}
