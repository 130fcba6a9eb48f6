/// A transaction over rows. It is durable when `Store.write` returns; when that throws, the transaction is rolled back.
///
/// The primitives hold no rule of the domain; the rules are in the procedures of each feature. A write does not wait, and
/// `Store.write` throws its error. A write returns an `Answer` where a procedure needs to know whether a row was written.
///
/// A row that was read *for update* is not changed by another transaction until this one has ended. Rows are read for update in
/// this order, so that no two transactions wait for each other: users, sessions, the rows that belong to a session. The audit
/// trail is written last.
public protocol StoreTransaction:
    StoreReader, UserTransaction, IdentityTransaction, ProviderCheckTransaction, ForeignTokenTransaction,
    PasskeyTransaction, SessionTransaction, UsedTokenTransaction, KeyTransaction, FailedAttemptsTransaction,
    AuditTransaction, RevocationTransaction, DeliveryTransaction, PINTransaction
{
    /// The wall clock.
    var now: Instant { get }

    // MARK: Tokens and checks beside sessions

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

    // MARK: Settings, clients, keys, deliveries

    /// Writes settings and clients. Every node reads them with its next request.
    func write(_ difference: CatalogueDifference)

    // MARK: Clean-up

    /// Deletes up to `limit` logins that were completed before `instant`, except those with a browser session whose own session
    /// has no end. Returns the number of deleted rows.
    func deleteLogins(before instant: Instant, limit: Int) -> Answer<Int>
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
