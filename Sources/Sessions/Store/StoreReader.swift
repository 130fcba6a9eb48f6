/// The rows of one moment, read by a procedure. Each method makes one request (see `Answer`); none of them holds a rule of the
/// domain.
///
/// `after` is the key of the last row that was read; nil starts with the first row. A list that is shorter than `limit` is the
/// last one.
public protocol StoreReader: PINReader {
    /// Settings and clients.
    func catalogue() -> Answer<Catalogue>

    // MARK: Users

    func user(_ reference: UserReference) -> Answer<User?>

    /// The users with one of those ids or one of those usernames, in no order. The list may contain a user twice.
    func users(_ ids: [Identifier<User>], named usernames: [String]) -> Answer<[User]>

    /// Up to `limit` users, in no order, whose username has the first key, or whose verified address has the second
    /// (`Text.emailKey`); nil: no address has.
    func users(named key: String, orAddress emailKey: String?, limit: Int) -> Answer<[User]>

    /// Up to `limit` users, in no order, with one of those two telephone numbers, letter by letter. Reads no other user.
    func users(withPhoneNumber number: String, or other: String, limit: Int) -> Answer<[User]>

    /// Users with a username, e-mail or name that contains `query`, in the order of their usernames' keys. May read every user.
    func users(matching query: String?, after key: String, limit: Int) -> Answer<[User]>

    /// Anonymous users, in the order of their ids. Reads no other user.
    func anonymousUsers(after id: Identifier<User>?, limit: Int) -> Answer<[User]>

    /// The sources of those users, in no order. A user that does not exist has none.
    func userSources(of ids: [Identifier<User>]) -> Answer<[UserSources]>

    // MARK: Identities

    func identity(_ key: Identity.Key) -> Answer<Identity?>

    /// The identities of a user, by provider and subject.
    func identities(of userID: Identifier<User>) -> Answer<[Identity]>

    /// Every identity, by provider and subject.
    func identities(after key: Identity.Key?, limit: Int) -> Answer<[Identity]>

    // MARK: Passkeys

    func passkey(_ id: [UInt8]) -> Answer<Passkey?>

    /// The passkeys of a user, by credential ID.
    func passkeys(of userID: Identifier<User>) -> Answer<[Passkey]>

    /// Every passkey, by credential ID.
    func passkeys(after id: [UInt8]?, limit: Int) -> Answer<[Passkey]>

    // MARK: Sessions

    func session(_ id: Identifier<Session>) -> Answer<Session?>

    /// The sessions with those ids, in no order.
    func sessions(_ ids: [Identifier<Session>]) -> Answer<[Session]>

    /// The newest `limit` sessions, ended or not, that phones have let in with that key.
    func sessions(letInWithKey thumbprint: String, limit: Int) -> Answer<[Session]>

    /// The sessions without a recorded end on those installations, in no order.
    func livingSessions(at places: [SessionPlace]) -> Answer<[Session]>

    /// The sessions of a user, tombstones included, newest first.
    func sessions(of userID: Identifier<User>, after cursor: SessionCursor?, limit: Int) -> Answer<[Session]>

    /// The sessions of a user on a device that have no recorded end, at most one of each client. Reads no other session.
    func sessions(of userID: Identifier<User>, onDevice deviceID: String) -> Answer<[Session]>

    /// Up to `limit` sessions of a user that have no recorded end, the last refreshed first. Reads at most `lookMax` sessions,
    /// so it considers only some of the sessions of a user that has more.
    func latestSessions(of userID: Identifier<User>, limit: Int, lookMax: Int) -> Answer<[Session]>

    /// Whether the user has a tombstone of a session on that device that started before `instant`. Reads at most `lookMax`
    /// tombstones.
    func hasTombstone(
        of userID: Identifier<User>, onDevice deviceID: String, before instant: Instant, lookMax: Int
    ) -> Answer<Bool>

    /// Every session, tombstones included, in the order of their ids.
    func sessions(after id: Identifier<Session>?, limit: Int) -> Answer<[Session]>

    // MARK: Tokens and checks beside sessions

    /// The stored check of a session with its identity provider.
    func providerCheck(of id: Identifier<Session>) -> Answer<ProviderCheck?>

    /// Whether a check of that provider is due by `now`.
    func hasDueProviderCheck(of provider: String, by now: Instant) -> Answer<Bool>

    /// The foreign token with that digest.
    func foreignToken(_ digest: [UInt8]) -> Answer<ForeignToken?>

    /// Every foreign token, in the order of their digests.
    func foreignTokens(after digest: [UInt8]?, limit: Int) -> Answer<[ForeignToken]>

    /// Whether the user has a foreign token that was not exchanged.
    func hasWaitingForeignToken(of userID: Identifier<User>) -> Answer<Bool>

    /// Whether the token was used before `token.at` and is still remembered.
    func isUsed(_ token: OneTimeToken) -> Answer<Bool>

    /// The used tokens that are not yet too old to be accepted at `now`, in the order of their digests.
    func usedTokens(after digest: [UInt8]?, at now: Instant, limit: Int) -> Answer<[OneTimeToken]>

    /// The login with that id.
    func login(_ id: Identifier<Session>) -> Answer<PageLogin?>

    /// The login whose code has that hash.
    func login(code hash: [UInt8]) -> Answer<PageLogin?>

    /// The logins on the page whose sessions belong to that session of a browser.
    func logins(inBrowser id: Identifier<Session>) -> Answer<[PageLogin]>

    /// The logins on the page that have continued that session by their codes, in the order of their ids.
    func logins(continuing id: Identifier<Session>) -> Answer<[PageLogin]>

    /// The logins on the page that the session of a browser has answered by that login with a phone.
    func logins(letInBy id: Identifier<Session>) -> Answer<[PageLogin]>

    /// The logins with a phone that the session of a browser has collected, the latest first.
    func phoneLogins(inBrowser id: Identifier<Session>) -> Answer<[PhoneLogin]>

    /// Every login on the page, in the order of their ids.
    func logins(after id: Identifier<Session>?, limit: Int) -> Answer<[PageLogin]>

    /// Every login with which the client may have got an ID token, in the order of their ids: those on the page, and those that
    /// backends have requested.
    func idTokenLogins(after id: Identifier<Session>?, limit: Int) -> Answer<[LoginReference]>

    /// The login with a phone that `key` finds.
    func phoneLogin(_ key: PhoneLogin.Key) -> Answer<PhoneLogin?>

    /// The living logins that depend on the session of a phone, in the order of their ids.
    func phoneLogins(ofPhone sessionID: Identifier<Session>) -> Answer<[PhoneLogin]>

    /// Whether the phone with that session has claimed a login that is not over.
    func hasPhoneLogins(ofPhone sessionID: Identifier<Session>) -> Answer<Bool>

    /// The logins with a phone, the newest first: those that phones of a user have claimed, that invite the user or that a backend
    /// has requested of the user, and those in a state, if given.
    func phoneLogins(
        ofUser userID: Identifier<User>?, state: String?, after cursor: SessionCursor?, limit: Int
    ) -> Answer<[PhoneLogin]>

    /// Up to `limit` logins that time may have changed by `now`.
    func phoneLogins(dueBy now: Instant, limit: Int) -> Answer<[Identifier<Session>]>

    /// The number of logins that wait for a phone, at most `limit`.
    func waitingPhoneLoginCount(areInvitations: Bool, limit: Int) -> Answer<Int>

    /// Up to `limit` logins with a ping that is due by `now`, the oldest first.
    func duePings(by now: Instant, limit: Int) -> Answer<[LoginReference]>

    /// The number of logins that backends have requested of a user and that wait for the user at `now`.
    func openPushCount(to userID: Identifier<User>, at now: Instant) -> Answer<Int>

    /// The failed attempts that are counted for `target`.
    func failedAttempts(at target: LockoutTarget) -> Answer<FailedAttempts?>

    // MARK: Keys and deliveries

    /// The signing keys, in the order in which they were made.
    func signingKeys() -> Answer<[StoredSigningKey]>

    /// The admin keys, in the order in which they were made.
    func adminKeys() -> Answer<[AdminKey]>

    /// The progress of the delivery of that name; nil if none is recorded.
    func delivery(_ name: String) -> Answer<DeliveryProgress?>

    /// The progress of each delivery, by name.
    func deliveries() -> Answer<[String: DeliveryProgress]>

    // MARK: The audit trail and the feed

    /// The events of the audit trail after number `cursor`, of one user or one session if given.
    func events(
        after cursor: Int64, limit: Int, userID: Identifier<User>?, sessionID: Identifier<Session>?
    ) -> Answer<[RecordedEvent]>

    /// The events of a user before number `cursor`, the newest first.
    func events(ofUser userID: Identifier<User>, before cursor: Int64, limit: Int) -> Answer<[RecordedEvent]>

    /// The events before number `cursor`, the newest first.
    func events(before cursor: Int64, limit: Int) -> Answer<[RecordedEvent]>

    /// The ends of the client's sessions in the audit trail after number `cursor`, the oldest first. Reads no other event.
    func sessionEnds(ofClient clientID: String, after cursor: Int64, limit: Int) -> Answer<[RecordedEvent]>

    /// The latest events of the kind `clientChanged` of that client, or without one `settingsChanged`, the newest first.
    func lifetimeChanges(ofClient clientID: String?, limit: Int) -> Answer<[RecordedEvent]>

    /// The number of the last event of the audit trail; 0 if it is empty.
    func lastEvent() -> Answer<Int64>

    /// Reads the next `limit` events after number `cursor`, and returns those of the kinds `ImportLedger.generalKinds`.
    func ledgerStep(after cursor: Int64, limit: Int) -> Answer<LedgerStep>

    /// The events of those users that `ImportLedger` records, from the oldest event on.
    func ledgerEvents(of users: [Identifier<User>]) -> Answer<[RecordedEvent]>

    /// The events after number `cursor` that `ImportLedger` records.
    func ledgerEvents(after cursor: Int64) -> Answer<[RecordedEvent]>

    /// Revocations after number `cursor` that still matter at `now`, the oldest first.
    func revocations(after cursor: Int64, at now: Instant, limit: Int) -> Answer<[Revocation]>

    /// The largest number that the feed has assigned; 0 if there is none yet.
    func lastRevocation() -> Answer<Int64>
}

/// An installation of an app. It has at most one active session.
public struct SessionPlace: Hashable, Sendable {
    /// The user.
    public let userID: Identifier<User>
    /// The app.
    public let clientID: String
    /// The device.
    public let deviceID: String

    /// The installation of an app on a device of a user.
    public init(userID: Identifier<User>, clientID: String, deviceID: String) {
        (self.userID, self.clientID, self.deviceID) = (userID, clientID, deviceID)
    }

    /// The installation that a session belongs to.
    public init(of session: Session) {
        self.init(userID: session.userID, clientID: session.clientID, deviceID: session.device.id)
    }
}

/// A cursor in the list of a user's sessions, which is sorted by start and id, newest first.
public struct SessionCursor: Hashable, Sendable, CustomStringConvertible {
    /// The start of the last session that was listed.
    public let startedAt: Instant
    /// The id of that session.
    public let id: Identifier<Session>

    /// The cursor after a session.
    public init(after session: Session) { (startedAt, id) = (session.startedAt, session.id) }

    /// The cursor after a row with that start and that id.
    public init(startedAt: Instant, id: Identifier<Session>) { (self.startedAt, self.id) = (startedAt, id) }

    /// The cursor that `description` wrote; nil for any other text.
    public init?(_ text: String) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 2, let startedAt = Int64(parts[0]), let id = Identifier<Session>(parts[1]) else {
            return nil
        }
        self.startedAt = Instant(secondsSinceEpoch: startedAt)
        self.id = id
    }

    /// Seconds since 1970, a full stop, the id.
    public var description: String { "\(startedAt.secondsSinceEpoch).\(id)" }
}
