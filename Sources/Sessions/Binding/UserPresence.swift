/// A session's record of its user's presence since the login.
public struct UserPresence: Hashable, Sendable {
    /// The presence key as `DeviceKey.text`. The device asks for biometry before this key signs.
    public var key: String?
    /// The time at which the presence key last signed.
    public var provenAt: Instant?
    /// The time at which the password was last given after the login.
    public var passwordAt: Instant?

    /// Creates a record.
    public init(key: String? = nil, provenAt: Instant? = nil, passwordAt: Instant? = nil) {
        self.key = key
        self.provenAt = provenAt
        self.passwordAt = passwordAt
    }

    /// True if the login registered a presence key that has not signed yet. The mode cannot change until it has, because before
    /// that it is unknown whether the device can use the key.
    public var isActivationPending: Bool { key != nil && provenAt == nil }
}

/// A proof of the user's presence.
public enum PresenceProof: Hashable, Sendable {
    /// An assertion of the presence key.
    case key
    /// The password with that hash.
    case password(hash: String?)
}

/// A requirement of a recent proof of the user's presence (RFC 9470).
public struct PresenceRequirement: Hashable, Sendable {
    /// The ways to prove presence, as values of `acr`, the preferred one first.
    public enum Way: String, CaseIterable, Sendable {
        /// An assertion of the presence key.
        case presence
        /// The password.
        case password
    }

    /// The largest accepted age of the proof.
    public let ageMax: Duration
    /// The accepted ways.
    public let ways: [Way]
    /// True if the session can use none of the ways, because it has no presence key or its user has no password. A new login
    /// helps then.
    public private(set) var takesLogin = false

    /// The largest accepted age of the proof for a change of the session's protection.
    public static let ageMaxOfChanges = Duration.seconds(300)

    /// Creates a requirement.
    init(ageMax: Duration, ways: [Way]) {
        self.ageMax = ageMax
        self.ways = ways
    }

    /// The requirement with `takesLogin` set for that session and its user.
    func asked(of user: User?, in session: Session) -> PresenceRequirement {
        var demand = self
        demand.takesLogin = !ways.contains { way in
            switch way {
            case .presence: session.presence.key != nil
            case .password: user?.passwordHash != nil
            }
        }
        return demand
    }

    /// Returns true if `session` meets the requirement. A proof of this moment always does.
    func isMet(by session: Session, at now: Instant) -> Bool {
        let age = now - session.lastShown(in: ways)
        return age <= .zero || age < ageMax
    }
}

extension AuthenticationMode {
    /// Returns true if `user` can meet the mode. A session with the mode `PASSWORD` of a user without a password would be
    /// stuck.
    func suits(_ user: User?) -> Bool { self != .password || user?.passwordHash != nil }
}

extension Session {
    /// The time of the last proof of presence in one of these ways. The login counts as each of them.
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
    /// The requirement of the session's mode, with `takesLogin` set; nil if the session may continue without a proof.
    func presenceDemand(on record: SessionRecord) -> PresenceRequirement? {
        presenceDemand(on: record.session, client: record.client, settings: record.settings)?
            .asked(of: record.user, in: record.session)
    }

    /// The requirement of the session's mode under the current settings; nil if the session may continue without a proof.
    ///
    /// - `NO` requires nothing.
    /// - `BIOMETRIC` requires the presence key or the password, at the interval that the client sets.
    /// - `PASSWORD` requires the password whenever an access token is due for renewal, and more often if the client says so.
    private func presenceDemand(on session: Session, client: Client?, settings: Settings) -> PresenceRequirement? {
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

    /// The requirement that `presentation` leaves unmet. For `PASSWORD` a device key that resumes the session needs the
    /// password in the same request, however recent the last password was.
    func openDemand(
        of presentation: RefreshPresentation, on session: Session, client: Client?, settings: Settings, now: Instant
    ) -> PresenceRequirement? {
        if session.authenticationMode == .no { return nil }
        guard let demand = presenceDemand(on: session, client: client, settings: settings) else { return nil }
        if presentation.isOfDeviceKey, session.authenticationMode == .password {
            if case .password? = presentation.presence { return nil }
            return demand
        }
        return demand.isMet(by: session, at: now) ? nil : demand
    }
}
