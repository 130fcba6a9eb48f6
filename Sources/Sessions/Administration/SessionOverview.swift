/// What the console's page of a session shows, read at one moment.
public struct SessionOverview: Sendable {
    /// The session, or its tombstone.
    public let record: SessionRecord
    /// The state of the checks with its identity provider; nil if the provider is not asked.
    public let check: ProviderCheck?
    /// The PIN of its app.
    public let pin: PIN?
    /// The session of the phone on which it depends.
    public let phone: Session?
    /// The login with a phone from which it came.
    public let login: PhoneLogin?
    /// The living sessions that depend on it.
    public let children: [Session]
    /// Its first events, the latest of them first.
    public let events: [RecordedEvent]
    /// The newest events of its user, if an admin has ended it, because an end of all sessions names its admin there.
    public let history: [RecordedEvent]
    /// How a refresh with each of its last refresh tokens would be decided, by their numbers.
    public let decisions: [UInt64: RefreshDecision]
}

extension Administration {
    /// The overview of a session. Throws `notFound`.
    ///
    /// - Parameter limit: the events of the page.
    public func overview(
        ofSession id: Identifier<Session>, limit: Int
    ) async throws(ServiceError) -> SessionOverview {
        let (time, policy) = (context.time, context.policy)
        let found = try await inStore(
            await store.read(.page) { (reader) throws(TransactionError) -> SessionOverview? in
                let (catalogue, session) = (reader.catalogue(), reader.session(id))
                let (check, pin, login) = (reader.providerCheck(of: id), reader.pin(of: id), reader.phoneLogin(.id(id)))
                let events = reader.events(ofSession: id, limit: limit)
                guard let session = try session.value() else { return nil }
                let phone = session.phoneID.map { reader.session($0) }
                let record = try reader.wholeRecord(of: session, try catalogue.value())
                let isRevoked = policy.ending(of: record, at: time.now)?.reason == .revokedByAdmin
                let history = isRevoked ? reader.events(ofUser: session.userID, before: .max, limit: limit) : nil
                let serials = [session.child, session.parent, session.parent - min(1, session.parent)]
                return SessionOverview(
                    record: record, check: session.confirmation == nil ? nil : try check.value(), pin: try pin.value(),
                    phone: try phone?.value() ?? nil, login: try login.value(),
                    children: try reader.children(of: id), events: try events.value().reversed(),
                    history: try history?.value() ?? [],
                    decisions: Dictionary(
                        serials.map { ($0, policy.decision(on: record, serial: $0, at: time)) }
                    ) { first, _ in first })
            })
        guard let found else { throw .notFound("session") }
        return found
    }
}
