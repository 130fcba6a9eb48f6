public import Cryptography

/// The store, the keys, the clock and the rules that all services share.
public final class ServiceContext: Sendable {
    /// The store of all data.
    public let store: any Store
    /// The lifetimes and the decision on refreshes.
    public let policy: RefreshPolicy
    /// Encodes and decodes refresh tokens.
    public let refreshTokens: RefreshTokenCoder
    /// Encrypts and decrypts the refresh tokens of identity providers.
    let providerTokens: ProviderTokens
    /// Derives the ids of anonymous users from the keys of their logins.
    let anonymousUserKey: HMACSHA256Key
    /// Seals and opens the authorization requests that browsers carry.
    public let requests: SealedRequests
    /// Writes and reads the codes of logins with a phone.
    let loginCodes: PhoneLoginCodeCoder
    /// Writes and reads the codes of invitations.
    let invitationCodes: PhoneLoginCodeCoder
    /// Derives the secrets of phones that enrol.
    let enrolmentKey: HMACSHA256Key
    /// The keys of web nonces; the first one makes new ones.
    let webNonces: [HMACSHA256Key]
    /// The keys of the secrets of logins that backends request; the first one makes new ones.
    let backchannelKeys: [HMACSHA256Key]
    /// Encrypts the tokens with which clients recognize pings.
    let notificationTokens: NotificationTokens
    /// The durations and bounds of logins with a phone.
    public let loginRules: PhoneLoginRules
    /// Encrypts what receivers of security events want to see in the field `Authorization`.
    public let streamSecrets: StreamSecrets
    /// What the operator has decided about passkeys; nil: there are none.
    public let passkeys: PasskeyPolicy?
    /// Makes and recognizes the challenges of passkeys.
    let passkeyChallenges: PasskeyChallenges
    /// Writes and reads the session cookies of browsers.
    let browserHandles: BrowserHandleCoder
    /// The keys that sign access tokens.
    public let signingKeys: SigningKeys
    /// Hashes passwords.
    public let passwords: PasswordHasher
    /// Makes and recognizes the codes and links of verifications.
    public let verificationSecrets: VerificationSecrets
    /// Wakes the sender of mails; nil: no mail is sent, and there are no verifications.
    public let mails: MailWaker?
    /// Seals the seeds of authenticators.
    public let totpSeeds: TOTPSeeds
    /// Seals the first steps of logins without their second factor.
    let firstSteps: FirstSteps
    /// The bounds of second factors.
    public let secondFactorRules: SecondFactorRules
    /// The time.
    public let clock: WallClock
    /// Guards against jumps of the clock; nil: the clock is trusted.
    public let clockGuard: ClockGuard?
    /// Random bytes.
    public let random: RandomSource
    /// The `iss` of every access token: the public base URL.
    public let issuer: String
    /// The `aud` of access tokens for which no resource is asked.
    public let audience: String
    /// `audience` as a list, made once.
    let ownAudience: [String]

    /// The rules for new passwords.
    public let passwordRules: PasswordRules
    /// The members of their accounts that users may change.
    public let editable: Set<ProfileMember>
    /// The rules for accounts that users make and end by themselves.
    public let accountRules: AccountRules
    /// The lifetime of a link of an admin for a new password.
    public let resetTokenLifetime: Duration
    /// The delays and the lock after wrong passwords.
    public let lockoutPolicy: LockoutPolicy
    /// The wrong passwords that this node has seen.
    let failedAttempts: FailedAttemptCounter
    /// Limits the audit events about misused refresh tokens.
    let misuses = MisuseEventThrottle()

    /// Whether there are foreign tokens.
    let foreignTokens = ForeignTokenPresence()
    /// Verifies proofs of possession.
    public let proofs: DPoPVerifier
    /// What this node knows of its deliveries to other programs.
    public let deliveries = DeliveryState()
    /// Since when this node has known its database.
    let databaseIncarnation = DatabaseIncarnation()

    /// A context; `clock` is read through `clockGuard`, if there is one.
    public init(
        store: any Store, policy: RefreshPolicy, rootKeys: RootKeys, signingKeys: SigningKeys,
        passwords: PasswordHasher, clock: WallClock, random: RandomSource = .system, issuer: String, audience: String,
        clockGuard: ClockGuard? = nil, proofs: DPoPPolicy = DPoPPolicy(),
        lockoutPolicy: LockoutPolicy = LockoutPolicy(),
        passwordRules: PasswordRules = PasswordRules(), resetTokenLifetime: Duration = .seconds(3600),
        passkeys: PasskeyPolicy? = nil, loginRules: PhoneLoginRules = PhoneLoginRules(), mails: MailWaker? = nil,
        accountRules: AccountRules = AccountRules(), secondFactorRules: SecondFactorRules = SecondFactorRules(),
        editable: Set<ProfileMember> = Set(ProfileMember.usual)
    ) {
        self.accountRules = accountRules
        totpSeeds = TOTPSeeds(rootKeys: rootKeys, random: random)
        firstSteps = FirstSteps(rootKeys: rootKeys, random: random)
        self.secondFactorRules = secondFactorRules
        verificationSecrets = VerificationSecrets(rootKeys: rootKeys)
        self.mails = mails
        self.editable = editable
        loginCodes = PhoneLoginCodeCoder(rootKeys: rootKeys)
        invitationCodes = PhoneLoginCodeCoder(.invitations, rootKeys: rootKeys)
        enrolmentKey = HMACSHA256Key(rootKeys.first.derive("sojourn enrolment"))
        self.loginRules = loginRules
        webNonces = rootKeys.all.map { HMACSHA256Key($0.derive("sojourn web nonce")) }
        backchannelKeys = rootKeys.all.map { HMACSHA256Key($0.derive("sojourn backchannel login")) }
        notificationTokens = NotificationTokens(rootKeys: rootKeys, random: random)
        self.passkeys = passkeys
        passkeyChallenges = PasskeyChallenges(rootKeys: rootKeys)
        self.resetTokenLifetime = resetTokenLifetime
        self.lockoutPolicy = lockoutPolicy
        self.passwordRules = passwordRules
        failedAttempts = FailedAttemptCounter(lockoutPolicy)
        self.store = store
        self.policy = policy
        self.refreshTokens = RefreshTokenCoder(rootKeys: rootKeys)
        providerTokens = ProviderTokens(rootKeys: rootKeys, random: random)
        anonymousUserKey = HMACSHA256Key(rootKeys.first.derive("sojourn anonymous user"))
        browserHandles = BrowserHandleCoder(rootKeys: rootKeys)
        requests = SealedRequests(rootKeys: rootKeys, random: random)
        streamSecrets = StreamSecrets(rootKeys: rootKeys, random: random)
        self.signingKeys = signingKeys
        self.passwords = passwords
        self.clock = clockGuard.map { clockGuard in WallClock { clockGuard.reading.now } } ?? clock
        self.clockGuard = clockGuard
        self.proofs = DPoPVerifier(proofs, rootKeys: rootKeys)
        self.random = random
        self.issuer = issuer
        self.audience = audience
        ownAudience = [audience]
    }

    /// The time, and the earliest that it can be.
    var time: ClockGuard.Reading {
        if let clockGuard { return clockGuard.reading }
        let now = clock.now
        return ClockGuard.Reading(now: now, earliest: now)
    }
}

/// A service of the domain: one job, done with the shared context.
protocol UseCase: Sendable {
    var context: ServiceContext { get }
}

extension UseCase {
    var store: any Store { context.store }
    var policy: RefreshPolicy { context.policy }

    /// Awaits a call of the store, and turns its failure into the domain's error.
    func inStore<Value: Sendable>(
        _ call: @autoclosure () async throws(StoreError) -> Value
    ) async throws(ServiceError) -> Value {
        do throws(StoreError) { return try await call() } catch { throw .store(error) }
    }

    /// Records a failed login in the audit trail.
    func recordFailedLogin(
        of userID: Identifier<User>?, in session: Session? = nil, _ reason: String, from origin: Origin
    ) async throws(ServiceError) {
        let event = AuditEvent(
            .loginFailed, at: context.clock.now, by: origin, userID: userID, sessionID: session?.id,
            clientID: session?.clientID, deviceID: session?.device.id, deviceName: session?.device.label, reason: reason
        )
        try await inStore(await store.append([event]))
    }

    /// The end of a session, or nil. An end by the clock is recorded, so that later settings cannot revive the session.
    func recordedEnding(
        of record: SessionRecord, from origin: Origin, at time: ClockGuard.Reading
    ) async throws(ServiceError) -> Session.Ending? {
        let now = time.now
        guard let ending = policy.ending(of: record, at: now) else { return nil }
        guard policy.ending(of: record, at: time.earliest) != nil else { throw .store(.clockInDoubt) }
        guard record.session.ending == nil else { return ending }
        let end: @Sendable (inout SessionChange) -> Void = { [policy] change in
            guard let ending = policy.ending(of: change.record, at: now) else { return }
            var session = change.session
            session.end(ending.reason, at: ending.at)
            change.keep(session, endedBy: origin, at: now)
        }
        let (id, hasPhone) = (record.session.id, record.session.phoneID != nil)
        _ = try await inStore(
            hasPhone
                ? await store.updateSessionAndCompanions(id, by: origin, end) : await store.updateSession(id, end))
        return ending
    }
}
