/// A change of one session inside a transaction. The closure edits `session` and appends to `events`.
public struct SessionChange: Sendable {
    /// The values that were read, with the edits so far. The store writes the members of the session that differ.
    public var record: SessionRecord
    /// Events that the same transaction appends to the audit trail.
    public var events: [AuditEvent] = []

    /// A change that starts with the values of `record`.
    public init(_ record: consuming SessionRecord) { self.record = record }

    /// The session.
    public var session: Session {
        get { record.session }
        _modify { yield &record.session }
    }
    /// Nil when the user was deleted.
    public var user: User? { record.user }
    /// Nil when the client was deleted.
    public var client: Client? { record.client }
    /// The settings at the moment of the transaction.
    public var settings: Settings { record.settings }
}
