/// A transaction over rows. It is durable when `Store.write` returns; when that throws, the transaction is rolled back.
///
/// The primitives hold no rule of the domain; the rules are in the procedures of each feature. A write does not wait, and `Store.write`
/// throws its error. A write returns an `Answer` where a procedure needs to know whether a row was written.
///
/// A row that was read *for update* is not changed by another transaction until this one has ended. Rows are read for update in
/// this order, so that no two transactions wait for each other: users, sessions, the rows that belong to a session. The audit
/// trail is written last.
public protocol StoreTransaction: StoreReader, PINTransaction {
    /// The wall clock.
    var now: Instant { get }

    // MARK: Users and identities

    func userForUpdate(_ reference: UserReference) -> Answer<User?>

    /// Adds a user. False if the username is taken; nothing was written.
    func insert(_ user: User) -> Answer<Bool>

    /// Writes all mutable fields of the user with that id.
    func update(_ user: User)

    /// Deletes a user, but no row that belongs to the user. Erases from the user's events what changes of the user say of values,
    /// and the names of devices.
    func deleteUser(_ id: Identifier<User>)

    /// Adds or replaces the sources of a user.
    func replace(_ sources: UserSources)

    func deleteUserSources(of userID: Identifier<User>)

    /// Adds an identity. False if the identity exists; nothing was written.
    func insert(_ identity: Identity) -> Answer<Bool>

    /// Deletes an identity of a user. False if the user has no such identity.
    func deleteIdentity(_ key: Identity.Key, of userID: Identifier<User>) -> Answer<Bool>

    /// Deletes the identities of a user.
    func deleteIdentities(of userID: Identifier<User>)

    /// Adds a passkey. False if the credential ID exists; nothing was written.
    func insert(_ passkey: Passkey) -> Answer<Bool>

    /// Writes the mutable fields of a passkey.
    func update(_ passkey: Passkey)

    /// Deletes a passkey of a user. False if the user has no such passkey.
    func deletePasskey(_ id: [UInt8], of userID: Identifier<User>) -> Answer<Bool>

    /// Deletes the passkeys of a user.
    func deletePasskeys(of userID: Identifier<User>)

    // MARK: Sessions

    func sessionForUpdate(_ id: Identifier<Session>) -> Answer<Session?>

    /// The session without a recorded end on an installation, for update.
    func livingSessionForUpdate(at place: SessionPlace) -> Answer<Session?>

    /// Adds a session of an existing user.
    func insert(_ session: Session)

    /// Adds a session, or writes the session with that id: all that can change, but the confirmation of a provider.
    /// The user may be deleted.
    func replace(_ session: Session)

    /// Ends a session that has no end, and deletes its provider check and its PIN.
    func end(_ id: Identifier<Session>, _ ending: Session.Ending)

    /// Ends the sessions of a user that `ending` selects, and deletes their provider checks and PINs.
    func endSessions(of userID: Identifier<User>, _ ending: UserChange.EndingSessions) -> Answer<[EndedSession]>

    /// Writes the ending and the confirmation of a session, and no other field.
    func updateConfirmation(of session: Session)

    // MARK: Tokens and checks beside sessions

    /// The provider check of a session, for update.
    func providerCheckForUpdate(of id: Identifier<Session>) -> Answer<ProviderCheck?>

    /// Up to `limit` checks of a provider that are due by `now` and that no other transaction holds, for update, the longest
    /// due first.
    func dueProviderChecksForUpdate(of provider: String, by now: Instant, limit: Int) -> Answer<[ProviderCheck]>

    /// Claims the checks of those sessions: each becomes due again at `end`, is marked as in doubt, and increments its
    /// revision.
    func claimProviderChecks(of sessions: [Identifier<Session>], until end: Instant)

    /// Adds or replaces the provider check of a session.
    func replace(_ check: ProviderCheck)

    /// Deletes the provider check of a session.
    func deleteProviderCheck(of id: Identifier<Session>)

    /// The foreign token with that digest, for update.
    func foreignTokenForUpdate(_ digest: [UInt8]) -> Answer<ForeignToken?>

    /// Adds a foreign token, or replaces one that was not exchanged: by an exchanged one, or, if `replacing`, by any. False if
    /// nothing was written.
    func insert(_ token: ForeignToken, replacing: Bool) -> Answer<Bool>

    /// Writes the exchange of a foreign token.
    func updateForeignToken(_ digest: [UInt8], _ exchange: ForeignToken.Exchange?)

    func deleteForeignToken(_ digest: [UInt8])

    /// Deletes the foreign tokens of a user that were not exchanged and match client and device of `ending`.
    func deleteForeignTokens(of userID: Identifier<User>, _ ending: UserChange.EndingSessions)

    /// The login with that id, for update.
    func loginForUpdate(_ id: Identifier<Session>) -> Answer<PageLogin?>

    /// Adds a login.
    func insert(_ login: PageLogin)

    /// Writes the code of a login, and no other field.
    func update(_ login: PageLogin)

    /// The login with a phone that has that id, for update.
    func loginSessionForUpdate(_ id: Identifier<Session>) -> Answer<PhoneLogin?>

    /// The living logins that depend on the session of a phone, in the order of their ids, for update.
    func loginSessionsForUpdate(ofPhone sessionID: Identifier<Session>) -> Answer<[PhoneLogin]>

    /// The living logins that phones of a user have claimed or that invite the user, in the order of their ids, for update.
    func livingPhoneLoginsForUpdate(ofUser userID: Identifier<User>) -> Answer<[PhoneLogin]>

    /// Marks all logins whose account is that user as those of a deleted user.
    func markPhoneLoginsDeleted(of userID: Identifier<User>)

    /// Writes what the login page has made of a login with a phone: the request, the methods, the browser's session and the
    /// code.
    func complete(_ login: PageLogin)

    /// Adds a login with a phone.
    func insert(_ login: PhoneLogin)

    /// Writes the variable fields of a login with a phone.
    func update(_ login: PhoneLogin)

    /// Cancels the codes of a user that were not exchanged and match the client of `ending`. Does nothing for an ending of one
    /// device, because a code has none.
    func cancelCodes(of userID: Identifier<User>, _ ending: UserChange.EndingSessions)

    /// Adds a used token, or uses one again that is forgotten at `token.at`. False if it was used before; nothing was written.
    func insert(_ token: OneTimeToken) -> Answer<Bool>

    /// The failed attempts that are counted for `target`, for update. The procedure then writes or deletes them.
    func failedAttemptsForUpdate(at target: LockoutTarget) -> Answer<FailedAttempts?>

    /// Writes the failed attempts that are counted for `target`.
    func replace(_ attempts: FailedAttempts, at target: LockoutTarget)

    /// Deletes the failed attempts that are counted for `target`.
    func deleteFailedAttempts(at target: LockoutTarget)

    /// Deletes the failed attempts that are counted for every target of a user.
    func deleteFailedAttempts(of userID: Identifier<User>)

    // MARK: Settings, clients, keys, deliveries

    /// Writes settings and clients. Every node reads them with its next request.
    func write(_ difference: CatalogueDifference)

    /// Adds or replaces signing keys, and deletes those with the ids `deleted`. Every node reads them with its next request.
    func write(_ keys: [StoredSigningKey], deleting deleted: [String])

    /// Adds or replaces admin keys, and deletes those with the ids `deleted`.
    func write(_ keys: [AdminKey], deleting deleted: [String])

    /// Adds or replaces the progress of a delivery; nil deletes it.
    func write(_ progress: DeliveryProgress?, ofDelivery name: String)

    // MARK: The audit trail and the feed

    /// Adds events to the audit trail, and their revocations to the feed. This is the last write of a transaction.
    func append(_ events: [RevokingEvent])

    /// Adds revocations without events to the feed, with the next numbers. This is the last write of a transaction.
    func append(_ revocations: [Revocation])

    // MARK: Clean-up

    /// Reads the `limit` oldest events by number, and deletes those that occurred before `instant`. Returns the number of
    /// deleted rows.
    func deleteEvents(before instant: Instant, limit: Int) -> Answer<Int>

    /// Deletes up to `limit` revocations that no longer matter at `instant`. Returns the number of deleted rows.
    func deleteRevocations(before instant: Instant, limit: Int) -> Answer<Int>

    /// Deletes up to `limit` used tokens that became too old at `instant` or before. Returns the number of deleted rows.
    func deleteUsedTokens(before instant: Instant, limit: Int) -> Answer<Int>

    /// Deletes up to `limit` logins that were completed before `instant`, except those with a browser session whose own session
    /// has no end. Returns the number of deleted rows.
    func deleteLogins(before instant: Instant, limit: Int) -> Answer<Int>

    /// Deletes the failed attempts of up to `limit` targets with the last attempt before `instant`. Returns the number of
    /// deleted rows.
    func deleteFailedAttempts(before instant: Instant, limit: Int) -> Answer<Int>
}

/// An event for the audit trail, with its revocation.
public struct RevokingEvent: Sendable {
    /// The event.
    public let event: AuditEvent
    /// Nil if the event revokes nothing.
    public let revocation: Revocation?

    /// An event and its revocation.
    public init(event: AuditEvent, revocation: Revocation?) { (self.event, self.revocation) = (event, revocation) }
}

extension StoreTransaction {
    /// Adds events that revoke nothing to the audit trail.
    func append(_ events: [AuditEvent]) { append(events.map { RevokingEvent(event: $0, revocation: nil) }) }

    /// Adds events to the audit trail, and their revocations to the feed. `catalogue` is the one before the change.
    func append(_ events: [AuditEvent], _ catalogue: Catalogue) {
        let now = now
        append(events.map { RevokingEvent(event: $0, revocation: catalogue.revocation(of: $0, at: now)) })
    }
}
