/// What a session knows of its user's presence since the login.
public struct UserPresence: Hashable, Sendable {
    /// The public key that signs only while the user is there, because the device asks for biometry first; as
    /// `DeviceKey.text`.
    public var key: String?
    /// When that key signed last.
    public var provenAt: Instant?
    /// When the password was typed last, after the login.
    public var passwordAt: Instant?

    /// Nothing is known yet.
    public init(key: String? = nil, provenAt: Instant? = nil, passwordAt: Instant? = nil) {
        self.key = key
        self.provenAt = provenAt
        self.passwordAt = passwordAt
    }

    /// Whether a key was registered at the login that has not signed yet. Until it has, nobody knows that the device can
    /// use it, and the mode stays what the login made it.
    public var isActivationPending: Bool { key != nil && provenAt == nil }
}

/// How a request shows that the user is there.
public enum PresenceProof: Hashable, Sendable {
    /// By an assertion of the presence key.
    case key
    /// By the password that has that hash.
    case password(hash: String?)
}

/// What a session asks for before it goes on (RFC 9470): that the user has shown to be there, not too long ago.
public struct PresenceRequirement: Hashable, Sendable {
    /// The words for the ways to show it (`acr`), the preferred one first.
    public enum Way: String, CaseIterable, Sendable {
        /// The presence key has signed.
        case presence
        /// The password was typed.
        case password
    }

    /// How long ago it may be at most.
    public let ageMax: Duration
    /// What will do.
    public let ways: [Way]
    /// Whether the session can do none of it: there is no presence key, or its user has no password. A login helps then.
    public private(set) var takesLogin = false

    /// How long ago it may be for a change of what guards the session.
    public static let ageMaxOfChanges = Duration.seconds(300)

    /// A demand.
    init(ageMax: Duration, ways: [Way]) {
        self.ageMax = ageMax
        self.ways = ways
    }

    /// The same, of that session and its user.
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

    /// Whether `session` meets it. What is shown this moment always does.
    func isMet(by session: Session, at now: Instant) -> Bool {
        let age = now - session.lastShown(in: ways)
        return age <= .zero || age < ageMax
    }
}

extension AuthenticationMode {
    /// Whether `user` can ever do what it asks for. A session that asks for a password that nobody has is stuck.
    func suits(_ user: User?) -> Bool { self != .password || user?.passwordHash != nil }
}

extension Session {
    /// When the user last showed to be there in one of these ways. The login counts as each of them.
    func lastShown(in ways: [PresenceRequirement.Way]) -> Instant {
        ways.reduce(startedAt) { last, way in
            switch way {
            case .presence: max(last, presence.provenAt ?? last)
            case .password: max(last, presence.passwordAt ?? last)
            }
        }
    }

    /// When the user was last authenticated: by the login, or since then.
    public var authenticatedAt: Instant { lastShown(in: PresenceRequirement.Way.allCases) }

    /// The way of that authentication, if it was after the login (RFC 9470 section 6).
    public var authenticationContext: PresenceRequirement.Way? {
        switch (presence.provenAt, presence.passwordAt) {
        case (let key?, let password?): key > password ? .presence : .password
        case (_?, nil): .presence
        case (nil, _?): .password
        case (nil, nil): nil
        }
    }

    /// Takes over that the user has shown to be there.
    mutating func note(_ proof: PresenceProof, at now: Instant) {
        switch proof {
        case .key: presence.provenAt = now
        case .password: presence.passwordAt = now
        }
    }
}

extension RefreshPolicy {
    /// What the session's mode asks for, of whom there is; nil: it goes on silently.
    func presenceDemand(on record: SessionRecord) -> PresenceRequirement? {
        presenceDemand(on: record.session, client: record.client, settings: record.settings)?
            .asked(of: record.user, in: record.session)
    }

    /// What the session's mode asks for, by today's settings; nil: it goes on silently.
    ///
    /// - `NO` asks for nothing.
    /// - `BIOMETRIC` asks for the presence key, or the password in its stead, when the client says how often.
    /// - `PASSWORD` asks for the password whenever a rolling token is due for renewal, and more often if the client says so.
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

    /// The demand that `presentation` leaves open. A key that resumes the session by itself is never enough for `PASSWORD`:
    /// that takes the password in the same request, however short ago it was typed.
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
