/// The requests about the audit trail.
public protocol AuditReader {
    /// The events of the audit trail after number `cursor`, of one user or one session if given. A reader of one number has missed
    /// no smaller one, here and wherever `after` is a number. `ReadLength.page` is the exception, because no cursor comes of it.
    func events(
        after cursor: Int64, limit: Int, userID: Identifier<User>?, sessionID: Identifier<Session>?
    ) -> Answer<[RecordedEvent]>

    /// The first events of a session in the audit trail, which readers of the trail may not get yet.
    func events(ofSession sessionID: Identifier<Session>, limit: Int) -> Answer<[RecordedEvent]>

    /// The events of a user before number `cursor`, the newest first.
    func events(ofUser userID: Identifier<User>, before cursor: Int64, limit: Int) -> Answer<[RecordedEvent]>

    /// The events before number `cursor`, the newest first.
    func events(before cursor: Int64, limit: Int) -> Answer<[RecordedEvent]>

    /// The ends of the client's sessions in the audit trail after number `cursor`, the oldest first. Reads no other event.
    func sessionEnds(ofClient clientID: String, after cursor: Int64, limit: Int) -> Answer<[RecordedEvent]>

    /// The latest events of the kind `clientChanged` of that client, or without one `settingsChanged`, the newest first.
    func lifetimeChanges(ofClient clientID: String?, limit: Int) -> Answer<[RecordedEvent]>

    /// The number of the last event that a reader gets; 0 if there is none. Every later event has a larger number.
    func lastEvent() -> Answer<Int64>

    /// Reads the next `limit` events after number `cursor`, and returns those of the kinds `ImportLedger.generalKinds`.
    func ledgerStep(after cursor: Int64, limit: Int) -> Answer<LedgerStep>

    /// The events of those users that `ImportLedger` records, from the oldest event on.
    func ledgerEvents(of users: [Identifier<User>]) -> Answer<[RecordedEvent]>

    /// The events after number `cursor` that `ImportLedger` records.
    func ledgerEvents(after cursor: Int64) -> Answer<[RecordedEvent]>
}

/// The requests and writes about the audit trail inside a transaction.
public protocol AuditTransaction: AuditReader {
    /// Adds events to the audit trail, and their revocations to the feed. This is the last write of a transaction.
    func append(_ events: [RevokingEvent])

    /// Reads the `limit` oldest events by number, and deletes those that occurred before `instant`. Returns the number of
    /// deleted rows.
    func deleteEvents(before instant: Instant, limit: Int) -> Answer<Int>
}

/// The requests about the feed of revocations.
public protocol RevocationReader {
    /// Revocations after number `cursor` that still matter at `now`, the oldest first.
    func revocations(after cursor: Int64, at now: Instant, limit: Int) -> Answer<[Revocation]>

    /// A number that every later revocation exceeds; 0 before the first one.
    func lastRevocation() -> Answer<Int64>

    /// The largest number that a revocation has, or may have soon; 0 before the first one.
    func lastAssignedRevocation() -> Answer<Int64>
}

/// The requests and writes about the feed of revocations inside a transaction.
public protocol RevocationTransaction: RevocationReader {
    /// Adds revocations without events to the feed, with the next numbers. This is the last write of a transaction.
    func append(_ revocations: [Revocation])

    /// Deletes up to `limit` revocations that no longer matter at `instant`. Returns the number of deleted rows.
    func deleteRevocations(before instant: Instant, limit: Int) -> Answer<Int>
}

/// The requests about deliveries.
public protocol DeliveryReader {
    /// The progress of the delivery of that name; nil if none is recorded.
    func delivery(_ name: String) -> Answer<DeliveryProgress?>

    /// The progress of each delivery, by name.
    func deliveries() -> Answer<[String: DeliveryProgress]>
}

/// The requests and writes about deliveries inside a transaction.
public protocol DeliveryTransaction: DeliveryReader {
    /// Adds or replaces the progress of a delivery; nil deletes it.
    func write(_ progress: DeliveryProgress?, ofDelivery name: String)
}
