/// A transaction over rows: it has happened and is durable when `Store.write` returns, or nothing of it has happened.
///
/// The primitives hold no rule of the domain: what follows from what is in `Sessions/Procedures`. A write does not wait, and what it
/// fails with, `Store.write` throws; where a procedure needs to know whether a row was written, the write gives an `Answer`.
///
/// What a procedure reads *for update* no other transaction changes until this one has ended. Rows are read for update in this order,
/// so that no two transactions wait for each other: users, sessions, what belongs to a session; the audit trail is written last.
public protocol StoreTransaction: StoreReader {
    /// The wall clock.
    var now: Instant { get }

    // MARK: Users and identities

    /// The user, for update.
    func userForUpdate(_ reference: UserReference) -> Answer<User?>

    /// Adds a user. False: the username is taken, and nothing was written.
    func insert(_ user: User) -> Answer<Bool>

    /// Writes all that can change of the user with that id.
    func update(_ user: User)

    /// Deletes a user, and nothing that belongs to the user.
    func deleteUser(_ id: Identifier<User>)

    /// Adds an identity. False: the identity is there, and nothing was written.
    func insert(_ identity: Identity) -> Answer<Bool>

    /// Deletes an identity of a user. False: the user has no such identity.
    func deleteIdentity(_ key: Identity.Key, of userID: Identifier<User>) -> Answer<Bool>

    /// Deletes the identities of a user.
    func deleteIdentities(of userID: Identifier<User>)

    // MARK: Sessions

    /// The session, for update.
    func sessionForUpdate(_ id: Identifier<Session>) -> Answer<Session?>

    /// The session without a recorded end on an installation, for update.
    func livingSessionForUpdate(at place: SessionPlace) -> Answer<Session?>

    /// Adds a session of a user that is there.
    func insert(_ session: Session)

    /// Adds a session, or writes all that can change of the session with that id. The user may be gone.
    func replace(_ session: Session)

    /// Ends a session that has no end, and deletes what its provider is asked with.
    func end(_ id: Identifier<Session>, _ ending: Session.Ending)

    /// Ends the sessions of a user that `ending` says, and deletes what their providers are asked with.
    func endSessions(of userID: Identifier<User>, _ ending: UserChange.EndingSessions) -> Answer<[EndedSession]>

    /// Writes the ending and the confirmation of a session, and nothing else of it.
    func updateConfirmation(of session: Session)

    // MARK: Tokens and checks beside sessions

    /// What the provider of a session is asked with, for update.
    func providerCheckForUpdate(of id: Identifier<Session>) -> Answer<ProviderCheck?>

    /// Up to `limit` checks of a provider that are due by `now` and that no other transaction has, for update, the longest due first.
    func dueProviderChecksForUpdate(of provider: String, by now: Instant, limit: Int) -> Answer<[ProviderCheck]>

    /// Each of those checks becomes due again at `end`, is in doubt, and counts one revision more.
    func claimProviderChecks(of sessions: [Identifier<Session>], until end: Instant)

    /// Adds what the provider of a session is asked with, or replaces it.
    func replace(_ check: ProviderCheck)

    /// Deletes what the provider of a session is asked with.
    func deleteProviderCheck(of id: Identifier<Session>)

    /// The foreign token with that digest, for update.
    func foreignTokenForUpdate(_ digest: [UInt8]) -> Answer<ForeignToken?>

    /// Adds a foreign token, or replaces one that was not exchanged: by one that was exchanged, or, if `replacing`, by any. False:
    /// nothing was written.
    func insert(_ token: ForeignToken, replacing: Bool) -> Answer<Bool>

    /// Writes what a foreign token has become.
    func updateForeignToken(_ digest: [UInt8], _ exchange: ForeignToken.Exchange?)

    /// Deletes a foreign token.
    func deleteForeignToken(_ digest: [UInt8])

    /// Deletes the foreign tokens of a user that were not exchanged, as far as client and device of `ending` agree.
    func deleteForeignTokens(of userID: Identifier<User>, _ ending: UserChange.EndingSessions)

    /// Adds a used token, or uses one again that is forgotten at `token.at`. False: it was used before, and nothing was written.
    func insert(_ token: OneTimeToken) -> Answer<Bool>

    /// The wrong passwords that are counted for `target`, for update. A procedure then writes or deletes them.
    func failedAttemptsForUpdate(at target: LockoutTarget) -> Answer<FailedAttempts?>

    /// Writes the wrong passwords that are counted for `target`.
    func replace(_ attempts: FailedAttempts, at target: LockoutTarget)

    /// Deletes what is counted for `target`.
    func deleteFailedAttempts(at target: LockoutTarget)

    /// Deletes what is counted for every target of a user.
    func deleteFailedAttempts(of userID: Identifier<User>)

    // MARK: Settings, clients, keys, webhooks

    /// Writes settings and clients. Every node learns of it with its next request.
    func write(_ difference: CatalogueDifference)

    /// Adds or replaces signing keys, and deletes those with `deleted` ids. Every node learns of it with its next request.
    func write(_ keys: [StoredSigningKey], deleting deleted: [String])

    /// Adds or replaces admin keys, and deletes those with `deleted` ids.
    func write(_ keys: [AdminKey], deleting deleted: [String])

    /// Adds or replaces how far a webhook has come; nil deletes it.
    func write(_ progress: WebhookProgress?, ofWebhook name: String)

    // MARK: The audit trail and the feed

    /// Adds events to the audit trail, and to the feed what they revoke. The last write of a transaction.
    func append(_ events: [RevokingEvent])

    /// Adds revocations without events to the feed, with the next numbers. The last write of a transaction.
    func append(_ revocations: [Revocation])

    // MARK: Clean-up

    /// Of the `limit` oldest events, by their numbers, deletes those that occurred before `instant`. Gives how many.
    func deleteEvents(before instant: Instant, limit: Int) -> Answer<Int>

    /// Deletes up to `limit` revocations that do not matter any more at `instant`. Gives how many.
    func deleteRevocations(before instant: Instant, limit: Int) -> Answer<Int>

    /// Deletes up to `limit` used tokens that have been too old since `instant` or longer. Gives how many.
    func deleteUsedTokens(before instant: Instant, limit: Int) -> Answer<Int>

    /// Deletes, of up to `limit` targets, the wrong passwords of which the last one came before `instant`. Gives how many.
    func deleteFailedAttempts(before instant: Instant, limit: Int) -> Answer<Int>
}

/// An event for the audit trail, with what it revokes.
public struct RevokingEvent: Sendable {
    /// The event.
    public let event: AuditEvent
    /// Nil: the event revokes nothing.
    public let revocation: Revocation?

    /// An event and what it revokes.
    public init(event: AuditEvent, revocation: Revocation?) { (self.event, self.revocation) = (event, revocation) }
}

extension StoreTransaction {
    /// Adds events that revoke nothing to the audit trail.
    func append(_ events: [AuditEvent]) { append(events.map { RevokingEvent(event: $0, revocation: nil) }) }

    /// Adds events to the audit trail, and to the feed what they revoke by the catalogue of before the change.
    func append(_ events: [AuditEvent], _ catalogue: Catalogue) {
        let now = now
        append(events.map { RevokingEvent(event: $0, revocation: catalogue.revocation(of: $0, at: now)) })
    }
}
