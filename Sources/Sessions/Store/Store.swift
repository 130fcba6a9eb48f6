/// Why the store could not answer. None of these means that anybody is logged out.
public enum StoreError: Error, Hashable, Sendable {
    /// Too busy, too slow, or the disk refuses: nothing was acknowledged, try again. The text is for the log.
    case unavailable(String)
    /// The database contradicts itself; the text says where. For the log.
    case corrupted(String)
}

/// A session with what it hangs on, read together.
public struct SessionRecord: Hashable, Sendable {
    /// The session.
    public var session: Session
    /// Nil when the user was deleted.
    public var user: User?
    /// Nil when the client was deleted.
    public var client: Client?
    /// The settings of that moment.
    public var settings: Settings

    /// What was read together.
    public init(session: Session, user: User?, client: Client?, settings: Settings) {
        self.session = session
        self.user = user
        self.client = client
        self.settings = settings
    }
}

/// A change of one session, inside a transaction: edit `session`, record `events`.
public struct SessionChange: Sendable {
    /// The session, to be edited; what differs at the end is written.
    public var session: Session
    /// Nil when the user was deleted.
    public let user: User?
    /// Nil when the client was deleted.
    public let client: Client?
    /// The settings of this moment.
    public let settings: Settings
    /// What the audit trail gets, in the same transaction.
    public var events: [AuditEvent] = []

    /// What was read, with the edits so far.
    public var record: SessionRecord {
        SessionRecord(session: session, user: user, client: client, settings: settings)
    }

    /// The change of what `record` holds.
    public init(_ record: SessionRecord) {
        self.init(session: record.session, user: record.user, client: record.client, settings: record.settings)
    }

    /// The change of what was read together.
    public init(session: Session, user: User?, client: Client?, settings: Settings) {
        self.session = session
        self.user = user
        self.client = client
        self.settings = settings
    }
}

/// What the domain needs of a database. Each call is one transaction: it has happened and is durable when it returns,
/// or it throws and nothing has happened that was acknowledged. The closures are pure, run inside the transaction, and
/// may run more than once (a backend may have to try again); a refusal is a value that they return, so that what it
/// must record commits with it.
///
/// A call that could not be decided within the store's deadline (10 s) throws `unavailable` and is not decided later.
public protocol Store: RevocationSource {
    /// Reads the session, lets `change` edit it, writes what differs. Nil: no such session.
    func updateSession<Outcome: Sendable>(
        _ id: Identifier<Session>, _ change: @escaping @Sendable (inout SessionChange) -> Outcome
    ) async throws(StoreError) -> Outcome?

    /// The same, of which `change` keeps the outcome itself; then, after it was run for the last time, `prepare` makes the answer of
    /// it, once. It may do so before that is durable, and its work is thrown away if it never is: it must not let anything out. False:
    /// no such session; what was kept counts for nothing then, and `prepare` was not run. Not generic, because every refresh passes
    /// here, and would look up at run time what it is made of.
    func changeSession(
        _ id: Identifier<Session>, _ change: @escaping @Sendable (inout SessionChange) -> Void,
        preparing prepare: () -> Void
    ) async throws(StoreError) -> Bool

    /// Lets `decide` start a session for a user on a device, and ends the one that it replaces. Nil: no such user.
    func openSession<Outcome: Sendable>(
        userID: Identifier<User>, clientID: String, deviceID: String,
        _ decide: @escaping @Sendable (inout SessionOpening) -> Outcome
    ) async throws(StoreError) -> Outcome?

    /// The same for whom an identity provider has authenticated: the user who has the identity, or gets it, or comes into being
    /// with it. Of what is new nothing is written unless the session is started, and the token is used up with that alone. Nil:
    /// of the new user's names none is free.
    func openSession<Outcome: Sendable>(
        by login: IdentityLogin, clientID: String, deviceID: String,
        _ decide: @escaping @Sendable (inout SessionOpening) -> Outcome
    ) async throws(StoreError) -> Outcome?

    /// Uses each token, all in one transaction. False for one that was used before: nothing was written of it.
    func use(_ tokens: [OneTimeToken]) async throws(StoreError) -> [Bool]

    /// The used tokens that are not refused for their age at `now`, in the order of their digests: up to `limit` of those after
    /// `cursor`. Fewer than `limit` is the end.
    func usedTokens(after cursor: [UInt8]?, at now: Instant, limit: Int) async throws(StoreError) -> [OneTimeToken]

    /// Forgets up to `limit` used tokens that have been too old since `instant` or longer. Returns how many.
    func sweepUsedTokens(before instant: Instant, limit: Int) async throws(StoreError) -> Int

    /// The wrong passwords that all nodes have counted for `target`; nil: none.
    func failedAttempts(at target: LockoutTarget) async throws(StoreError) -> FailedAttempts?

    /// Lets `change` edit them.
    func updateFailedAttempts<Outcome: Sendable>(
        at target: LockoutTarget, _ change: @escaping @Sendable (inout FailedAttemptsChange) -> Outcome
    ) async throws(StoreError) -> Outcome

    /// Forgets those of up to `limit` targets of which the last one came before `instant`. Returns how many.
    func sweepFailedAttempts(before instant: Instant, limit: Int) async throws(StoreError) -> Int

    /// The session as it stands, with every acknowledged change.
    func session(_ id: Identifier<Session>) async throws(StoreError) -> SessionRecord?

    /// The sessions of a user, tombstones included, newest first, beginning after `cursor` (from `nextCursor`). For each page it
    /// looks at all of them: not for what users or strangers can ask for.
    func sessions(
        of userID: Identifier<User>, after cursor: String?, limit: Int
    ) async throws(StoreError) -> Page<SessionRecord>

    /// The sessions of a user on one device that have no recorded end, one of each client at most. It looks at no other session,
    /// however many the user has.
    func sessions(
        of userID: Identifier<User>, onDevice deviceID: String
    ) async throws(StoreError) -> [SessionRecord]

    /// Up to `limit` sessions of a user that have no recorded end, those first that were refreshed last. It looks at no more than
    /// `lookMax`: of a user who has more, at some.
    func latestSessions(
        of userID: Identifier<User>, limit: Int, lookMax: Int
    ) async throws(StoreError) -> [SessionRecord]

    /// Whether the user has a session on that device, or a tombstone of one, that started before `instant`. It looks at no more than
    /// `lookMax` tombstones: of a user who has more, at some.
    func hasSession(
        of userID: Identifier<User>, onDevice deviceID: String, before instant: Instant, lookMax: Int
    ) async throws(StoreError) -> Bool

    /// Adds a user. False: the username is taken; nothing was written.
    func insertUser(_ user: User, events: [AuditEvent]) async throws(StoreError) -> Bool

    /// The user.
    func user(_ reference: UserReference) async throws(StoreError) -> User?

    /// Users in the order of their usernames' keys, those whose username, e-mail or name contains `query`.
    func users(matching query: String?, after cursor: String?, limit: Int) async throws(StoreError) -> Page<User>

    /// Reads the user, and the session that asks, if one does; lets `change` edit the user and end sessions, writes. What has ended
    /// that session before the commit is either in what is read, or comes after the change.
    func updateUser<Outcome: Sendable>(
        _ reference: UserReference, asking sessionID: Identifier<Session>?,
        _ change: @escaping @Sendable (inout UserChange) -> Outcome
    ) async throws(StoreError) -> UserUpdate<Outcome>

    /// Every client, by id.
    func clients() async throws(StoreError) -> [Client]

    /// The client.
    func client(_ id: String) async throws(StoreError) -> Client?

    /// The settings.
    func settings() async throws(StoreError) -> Settings

    /// Lets `change` edit the settings, and make, edit or delete clients.
    func updateCatalogue<Outcome: Sendable>(
        _ change: @escaping @Sendable (inout CatalogueChange) -> Outcome
    ) async throws(StoreError) -> Outcome

    /// Lets `change` edit the list of signing keys (and reads it: return it unchanged).
    func updateSigningKeys<Outcome: Sendable>(
        _ change: @escaping @Sendable (inout [StoredSigningKey], inout [AuditEvent]) -> Outcome
    ) async throws(StoreError) -> Outcome

    /// Lets `change` edit the list of admin keys.
    func updateAdminKeys<Outcome: Sendable>(
        _ change: @escaping @Sendable (inout [AdminKey], inout [AuditEvent]) -> Outcome
    ) async throws(StoreError) -> Outcome

    /// Changes whenever signing keys are changed, by whatever node, as far as any call that has returned can have seen it.
    var keyRevision: Int64 { get }

    /// The admin keys.
    func adminKeys() async throws(StoreError) -> [AdminKey]

    /// Adds to the audit trail what belongs to no change.
    func append(_ events: [AuditEvent]) async throws(StoreError)

    /// The audit trail from the oldest event on, those after place `cursor`, of one user or one session if named.
    func events(
        after cursor: Int64, limit: Int, userID: Identifier<User>?, sessionID: Identifier<Session>?
    ) async throws(StoreError) -> [RecordedEvent]

    /// One small step of clean-up: looks at up to `limit` sessions after `cursor` in the order of their ids and deletes
    /// those for which `isForgotten` answers true. Returns the cursor of the next step; nil at the end of the table.
    func sweepSessions(
        after cursor: Identifier<Session>?, limit: Int,
        _ isForgotten: @escaping @Sendable (SessionRecord) -> Bool
    ) async throws(StoreError) -> SweepStep

    /// One small step of the audit trail's clean-up: of the `limit` oldest events, by their places, deletes those that
    /// occurred before `instant`. Returns how many; none is the end of the walk.
    func sweepEvents(before instant: Instant, limit: Int) async throws(StoreError) -> Int

    /// Deletes up to `limit` revocations that do not matter any more at `instant`. Returns how many.
    func sweepRevocations(before instant: Instant, limit: Int) async throws(StoreError) -> Int

    /// Lets `change` edit how far the webhook of that name has come; nil, before: there was none yet; after: it is forgotten.
    func updateWebhook<Outcome: Sendable>(
        _ name: String, _ change: @escaping @Sendable (inout WebhookProgress?) -> Outcome
    ) async throws(StoreError) -> Outcome

    /// How far each webhook has come, by their names; also of those that are configured no more.
    func webhooks() async throws(StoreError) -> [String: WebhookProgress]

    /// Every session, tombstones included, in the order of their ids: up to `limit` of those after `cursor`. Fewer than
    /// `limit` is the end.
    func exportSessions(after cursor: Identifier<Session>?, limit: Int) async throws(StoreError) -> [Session]

    /// Adds each user, or does with the user of that id what `mode` decides (`ImportMode.decision`); `createdAt` stays. All in one
    /// transaction; a user whose username somebody else has is left out. What changes of a user is told (`UserChange.take`). One
    /// outcome for each, in order.
    ///
    /// This call and those that import what users have read in their transaction what the trail tells after the place of `mode`, so
    /// that what is deleted or ended while an import runs stays so, too.
    func importUsers(_ users: [User], _ mode: ImportMode) async throws(StoreError) -> [ImportOutcome]

    /// One step along the trail, from the oldest event on: looks at the next `limit` events after place `cursor`, and gives those of
    /// `ImportLedger.generalKinds`.
    func remembered(after cursor: Int64, limit: Int) async throws(StoreError) -> LedgerStep

    /// What `ImportLedger` takes up of the trail of those users, from the oldest on.
    func remembered(of users: Set<Identifier<User>>) async throws(StoreError) -> [RecordedEvent]

    /// Does with each session what `SessionImport.decision` says, one after the other in the order given, all in one
    /// transaction, and tells what ends by it (`SessionImport.events`). One outcome for each, in order.
    func importSessions(_ sessions: [Session], _ mode: ImportMode) async throws(StoreError) -> [ImportOutcome]

    /// The users with those names, by the names as they are given; who is not there is left out.
    func userIDs(named usernames: Set<String>) async throws(StoreError) -> [String: Identifier<User>]

    /// Adds each foreign token. One that the store has already is kept as it is if it was exchanged; if not, it is replaced by one
    /// that was, and when `mode` is to replace by any. One that has ended here (`ImportMode.hasEnded`), or whose user is not there, is left
    /// out. All in one transaction; one outcome for each, in order.
    func importForeignTokens(
        _ tokens: [ForeignToken], _ mode: ImportMode
    ) async throws(StoreError) -> [ImportOutcome]

    /// Every foreign token, in the order of their digests: up to `limit` of those after `cursor`. Fewer than `limit` is
    /// the end.
    func foreignTokens(after cursor: [UInt8]?, limit: Int) async throws(StoreError) -> [ForeignToken]

    /// Lets `change` exchange or delete the foreign token with that digest. Nil: no such token, which is found out
    /// without a write.
    ///
    /// `updateUser` with `ending` also deletes the foreign tokens of the user that were not exchanged, as far as
    /// client and device agree: they are sessions in waiting. So does it for all of them when it deletes the user.
    func updateForeignToken<Outcome: Sendable>(
        _ digest: [UInt8], _ change: @escaping @Sendable (inout ForeignTokenChange) -> Outcome
    ) async throws(StoreError) -> Outcome?

    /// The identity of that name, and with it whose it is.
    func identity(_ key: Identity.Key) async throws(StoreError) -> Identity?

    /// The identities of a user, by provider and subject. They go with the user.
    func identities(of userID: Identifier<User>) async throws(StoreError) -> [Identity]

    /// Adds an identity to a user who is there. All or nothing.
    func insertIdentity(_ insertion: IdentityInsertion) async throws(StoreError) -> IdentityInsertion.Outcome

    /// Removes an identity of a user. False: the user has no such identity; nothing was written.
    func deleteIdentity(
        _ key: Identity.Key, of userID: Identifier<User>, events: [AuditEvent]
    ) async throws(StoreError) -> Bool

    /// Every identity, by provider and subject: up to `limit` of those after `cursor`. Fewer than `limit` is the end.
    func identities(after cursor: Identity.Key?, limit: Int) async throws(StoreError) -> [Identity]

    /// Adds each identity. One that the store has is kept as it is; one that was unlinked here (`ImportMode.hasUnlinked`), or whose user
    /// is not there, is left out. All in one transaction; one outcome for each, in order.
    func importIdentities(_ identities: [Identity], _ mode: ImportMode) async throws(StoreError) -> [ImportOutcome]

    /// What the provider of a session is asked with. It goes with the end of the session, by whatever call that is written;
    /// where the clock, or one write for many sessions, has brought the end, it stays until it is due, or the session is forgotten.
    func providerCheck(of id: Identifier<Session>) async throws(StoreError) -> ProviderCheck?

    /// Takes up to `limit` checks of `provider` that are due by `now`, the longest due first: each becomes due again at `end`,
    /// is in doubt until it is settled, and counts one revision more. Returned as they were, with the new revision. No two
    /// callers get the same; that none is due is found out without a write.
    func claimProviderChecks(
        of provider: String, dueBy now: Instant, until end: Instant, limit: Int
    ) async throws(StoreError) -> [ProviderCheck]

    /// Lets `change` edit a session's check, and with it the session's ending and confirmation. Nil: no such session.
    func updateProviderCheck<Outcome: Sendable>(
        _ id: Identifier<Session>, _ change: @escaping @Sendable (inout ProviderCheckChange) -> Outcome
    ) async throws(StoreError) -> Outcome?

    /// Adds each revocation to the feed, in order, with the next numbers. One that does not hold here (`Revocation.holds`) is
    /// left out, and counts as kept. All in one transaction; one outcome for each, in order.
    func importRevocations(_ revocations: [Revocation]) async throws(StoreError) -> [ImportOutcome]

    /// A name for the time since the database was started or made: with another one, it may have gone back to an older state.
    func databaseLife() async throws(StoreError) -> String

    /// Whether the store can commit at present.
    func ping() async throws(StoreError)
}

extension Store {
    /// Uses a token. False: it was used before.
    public func use(_ token: OneTimeToken) async throws(StoreError) -> Bool { try await use([token]) == [true] }

    /// Adds each user who is not there; the others stay as they are.
    public func importUsers(_ users: [User]) async throws(StoreError) -> [ImportOutcome] {
        try await importUsers(users, .keeping(ImportLedger()))
    }

    /// Adds each session, as far as it has gone further than what is there.
    public func importSessions(_ sessions: [Session]) async throws(StoreError) -> [ImportOutcome] {
        try await importSessions(sessions, .keeping(ImportLedger()))
    }

    /// Adds each identity that is not there.
    public func importIdentities(_ identities: [Identity]) async throws(StoreError) -> [ImportOutcome] {
        try await importIdentities(identities, .keeping(ImportLedger()))
    }

    /// Adds each foreign token that is not there.
    public func importForeignTokens(_ tokens: [ForeignToken]) async throws(StoreError) -> [ImportOutcome] {
        try await importForeignTokens(tokens, .keeping(ImportLedger()))
    }

    /// The same, where no session asks.
    public func updateUser<Outcome: Sendable>(
        _ reference: UserReference, _ change: @escaping @Sendable (inout UserChange) -> Outcome
    ) async throws(StoreError) -> UserUpdate<Outcome> {
        try await updateUser(reference, asking: nil, change)
    }

    /// For a store whose commits are too slow for it to matter when the answer is prepared: afterwards.
    public func changeSession(
        _ id: Identifier<Session>, _ change: @escaping @Sendable (inout SessionChange) -> Void,
        preparing prepare: () -> Void
    ) async throws(StoreError) -> Bool {
        guard try await updateSession(id, change) != nil else { return false }
        prepare()
        return true
    }
}
