/// The session of a phone, as far as a login depends on it.
public struct Phone: Hashable, Sendable {
    /// The session.
    public var sessionID: Identifier<Session>
    /// Its user.
    public var userID: Identifier<User>
    /// Its client.
    public var clientID: String
    /// The installation of the app.
    public var deviceID: String
    /// Why the session could not be renewed now; nil: it could.
    public var refusal: RefusalReason?
    /// Whether its own rule, or that of the login, demands a proof of the user's presence now.
    public var isPresenceDue = false
    /// Why it may approve no logins: it was itself approved a short time ago, or the user typed wrong numbers too often.
    public var isBarred = false
    /// Its last renewal.
    public var renewedAt: Instant
    /// The restores of the database, which begin its silence anew.
    var restores: [Settings.Restore] = []
    /// SHA-256 of its secret, if it enrols; nil: it has a session.
    public var secretHash: [UInt8]?

    /// A phone with a session that can be renewed.
    public init(_ session: Session) {
        sessionID = session.id
        userID = session.userID
        clientID = session.clientID
        deviceID = session.device.id
        renewedAt = session.renewedAt
    }

    /// A phone that enrols: its session will be that of `login`, and its user that of the invitation.
    public init?(enrolling login: PhoneLogin, deviceID: String, secretHash: [UInt8], at now: Instant) {
        guard let invitation = login.request.invitation else { return nil }
        sessionID = login.id
        userID = invitation.userID
        clientID = login.clientID
        self.deviceID = deviceID
        renewedAt = now
        self.secretHash = secretHash
    }

    /// From when its silence counts after its answer at `answeredAt`.
    func silentSince(_ answeredAt: Instant, _ interval: Duration) -> Instant {
        restores.idleStart(max(answeredAt, renewedAt), interval)
    }

    /// Whether the session has ended. Disabled logins only block it.
    public var hasEnded: Bool {
        if case .ended = refusal { true } else { refusal == .unknownSession }
    }
}

extension RefreshPolicy {
    /// The phone of that session at `now`. For a second factor the client's `userPresenceMaxAge` counts in every mode.
    public func phone(of record: SessionRecord, at now: Instant) -> Phone {
        var phone = Phone(record.session)
        phone.restores = record.settings.restores
        if let ending = ending(of: record, at: now) {
            phone.refusal = .ended(ending.reason)
        } else {
            phone.refusal = record.user == nil ? .unknownSession : record.user?.loginRefusal
        }
        phone.isBarred = record.session.isOnProbation(at: now)
        let age = now - record.session.authenticatedAt
        let ageMax = record.client?.userPresenceMaxAge?.ifPositive
        let isOwnRuleMet = presenceRequirement(on: record)?.isMet(by: record.session, at: now) ?? true
        phone.isPresenceDue = !isOwnRuleMet || ageMax.map { age >= $0 } ?? false
        return phone
    }

    /// The login as it stands at `now`, with the session of its phone.
    func standing(of found: LoginWithPhone, by rules: PhoneLoginRules, at now: Instant) -> PhoneLogin {
        PhoneLoginPolicy(rules).standing(found.login, claimant: found.claimant.map { phone(of: $0, at: now) }, at: now)
    }
}
