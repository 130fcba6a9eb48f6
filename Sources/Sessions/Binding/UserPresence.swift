/// The record of a user's presence since the login of the session.
public struct UserPresence: Hashable, Sendable {
    /// The presence key as `DeviceKey.text`. The device asks for biometry before this key signs.
    public var key: String?
    /// The time at which the presence key last signed.
    public var provenAt: Instant?
    /// The time at which the password was last given after the login.
    public var passwordAt: Instant?

    /// A record; empty by default.
    public init(key: String? = nil, provenAt: Instant? = nil, passwordAt: Instant? = nil) {
        self.key = key
        self.provenAt = provenAt
        self.passwordAt = passwordAt
    }

    /// Whether the login registered a key that has not signed yet. Until it signs, the mode of the login cannot be changed,
    /// because the device may be unable to use the key.
    public var isActivationPending: Bool { key != nil && provenAt == nil }
}

/// How a request proves the user's presence.
public enum PresenceProof: Hashable, Sendable {
    /// An assertion of the presence key.
    case key
    /// The password with that hash.
    case password(hash: String?)
}

/// The proof of the user's presence that a session requires before it is renewed (RFC 9470).
public struct PresenceRequirement: Hashable, Sendable {
    /// The ways to prove presence (`acr`), the preferred one first.
    public enum Way: String, CaseIterable, Sendable {
        /// An assertion of the presence key.
        case presence
        /// The password.
        case password
    }

    /// The maximum age of the proof.
    public let ageMax: Duration
    /// The ways that meet the requirement.
    public let ways: [Way]
    /// Whether only a login helps, because the session has no presence key and its user no password.
    public private(set) var takesLogin = false

    /// The maximum age of a proof that allows a change of how the session is guarded.
    public static let ageMaxOfChanges = Duration.seconds(300)

    /// A requirement.
    init(ageMax: Duration, ways: [Way]) {
        self.ageMax = ageMax
        self.ways = ways
    }

    /// The requirement as that session and its user can meet it.
    func asked(of user: User?, in session: Session) -> PresenceRequirement {
        var requirement = self
        requirement.takesLogin = !ways.contains { way in
            switch way {
            case .presence: session.presence.key != nil
            case .password: user?.passwordHash != nil
            }
        }
        return requirement
    }

    /// Whether `session` meets the requirement. A proof of this moment always does.
    func isMet(by session: Session, at now: Instant) -> Bool {
        let age = now - session.lastShown(in: ways)
        return age <= .zero || age < ageMax
    }
}

extension AuthenticationMode {
    /// Whether `user` can meet the mode's requirement: a session that requires a password which does not exist is stuck.
    func suits(_ user: User?) -> Bool { self != .password || user?.passwordHash != nil }
}

extension Session {
    /// When presence was last proved in one of these ways. The login counts as each of them.
    func lastShown(in ways: [PresenceRequirement.Way]) -> Instant {
        ways.reduce(startedAt) { last, way in
            switch way {
            case .presence: max(last, presence.provenAt ?? last)
            case .password: max(last, presence.passwordAt ?? last)
            }
        }
    }

    /// The time of the last authentication: the login or a later proof of presence.
    public var authenticatedAt: Instant { lastShown(in: PresenceRequirement.Way.allCases) }

    /// The way of the last authentication, if it was after the login (RFC 9470 section 6).
    public var authenticationContext: PresenceRequirement.Way? {
        switch (presence.provenAt, presence.passwordAt) {
        case (let key?, let password?): key > password ? .presence : .password
        case (_?, nil): .presence
        case (nil, _?): .password
        case (nil, nil): nil
        }
    }

    /// Records a proof of the user's presence.
    mutating func note(_ proof: PresenceProof, at now: Instant) {
        switch proof {
        case .key: presence.provenAt = now
        case .password: presence.passwordAt = now
        }
    }
}

extension RefreshPolicy {
    /// The requirement of the session's mode, with what its user can do; nil: the session is renewed silently.
    func presenceRequirement(on record: SessionRecord) -> PresenceRequirement? {
        presenceRequirement(on: record.session, client: record.client, settings: record.settings)?
            .asked(of: record.user, in: record.session)
    }

    /// The requirement of the session's mode by today's settings; nil: the session is renewed silently.
    ///
    /// - `NO` requires nothing.
    /// - `BIOMETRIC` requires the presence key, or the password in its stead, when the client says how often.
    /// - `PASSWORD` requires the password whenever an access token is due for renewal, and more often if the client says so.
    private func presenceRequirement(
        on session: Session, client: Client?, settings: Settings
    ) -> PresenceRequirement? {
        let ageMax = client?.userPresenceMaxAge?.ifPositive
        switch session.authenticationMode {
        case .no: return nil
        case .biometric: return ageMax.map { PresenceRequirement(ageMax: $0, ways: [.presence, .password]) }
        case .password:
            let refreshAfter = client?.refreshAfter?.ifPositive ?? settings.sessions.refreshAfter.ifPositive
            return PresenceRequirement(
                ageMax: [ageMax, refreshAfter].compactMap(\.self).min() ?? .zero, ways: [.password])
        }
    }

    /// The requirement that `attempt` does not meet. A key that resumes the session by itself never meets that of `PASSWORD`,
    /// which takes the password in the same request, however recently it was typed.
    func unmetPresenceRequirement(
        of attempt: RefreshAttempt, on session: Session, client: Client?, settings: Settings, now: Instant
    ) -> PresenceRequirement? {
        if session.authenticationMode == .no { return nil }
        guard let requirement = presenceRequirement(on: session, client: client, settings: settings) else { return nil }
        if attempt.isOfDeviceKey, session.authenticationMode == .password {
            if case .password? = attempt.presence { return nil }
            return requirement
        }
        return requirement.isMet(by: session, at: now) ? nil : requirement
    }
}
