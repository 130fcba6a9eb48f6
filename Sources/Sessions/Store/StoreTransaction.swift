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
    PasskeyTransaction, SessionTransaction, PageLoginTransaction, PhoneLoginTransaction, UsedTokenTransaction,
    KeyTransaction, FailedAttemptsTransaction, AuditTransaction, RevocationTransaction, DeliveryTransaction,
    PINTransaction, CleanUpTransaction, VerificationTransaction, MailTransaction, UserDetailsTransaction,
    SecondFactorTransaction, LogoTransaction
{
    /// The wall clock.
    var now: Instant { get }

    /// Writes settings and clients. Every node reads them with its next request.
    func write(_ difference: CatalogueDifference)
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
