/// What the console's page of a user shows, read at one moment.
public struct UserOverview: Sendable {
    /// The id, which the trail keeps of a deleted user.
    public let id: Identifier<User>
    /// Nil: the user was deleted.
    public let user: User?
    /// Where the names, the address and the password come from.
    public let sources: UserSources?
    /// Sessions and tombstones, the newest first.
    public let sessions: Page<SessionRecord>
    /// Whether these are the newest sessions.
    public let isFirstPage: Bool
    /// The last known address of each session; none if nothing knows places.
    public let addresses: [Identifier<Session>: String]
    /// The passkeys by credential ID.
    public let passkeys: [Passkey]
    /// The confirmed authenticators.
    public let authenticators: [TOTPFactor]
    /// The recovery codes that are left.
    public let recoveryCodesLeft: Int
    /// What an admin has decided about second factors; nil: nothing.
    public let secondFactor: UserDetails.SecondFactorRequirement?
    /// What the user has at identity providers.
    public let identities: [Identity]
    /// The newest events of the user.
    public let events: [RecordedEvent]
}

extension Administration {
    /// The overview of a user, or of what the audit trail and ended sessions say of a deleted one. Throws `notFound` if nothing
    /// is known.
    ///
    /// - Parameters:
    ///   - limit: the sessions and the events of a page.
    ///   - lookMax: the events that are looked at for the addresses of sessions; 0: none is needed.
    public func overview(
        ofUser id: Identifier<User>, after cursor: SessionCursor?, limit: Int, lookMax: Int
    ) async throws(ServiceError) -> UserOverview {
        let overview = try await inStore(
            await store.read(.page) { (reader) throws(TransactionError) in
                let (catalogue, user) = (reader.catalogue(), reader.user(.id(id)))
                let sources = reader.userSources(of: [id])
                let sessions = reader.sessions(of: id, after: cursor, limit: Page<Session>.rows(for: limit))
                let (passkeys, identities) = (reader.passkeys(of: id), reader.identities(of: id))
                let (details, factors) = (reader.userDetails(id), reader.totpFactors(of: id))
                let codes = reader.recoveryCodes(of: id)
                let events = try reader.events(ofUser: id, before: .max, limit: max(limit, lookMax)).value()
                let (known, owner) = (try catalogue.value(), try user.value())
                let records = try sessions.value().map { known.record(of: $0, owner) }
                return UserOverview(
                    id: id, user: owner, sources: owner == nil ? nil : try sources.value().first,
                    sessions: Page(records, limit: limit) { SessionCursor(after: $0.session).description },
                    isFirstPage: cursor == nil, addresses: lookMax > 0 ? events.prefix(lookMax).addresses : [:],
                    passkeys: try passkeys.value(),
                    authenticators: try factors.value().filter { $0.confirmedAt != nil },
                    recoveryCodesLeft: try codes.value().count { $0.usedAt == nil },
                    secondFactor: try details.value()?.secondFactor, identities: try identities.value(),
                    events: Array(events.prefix(limit)))
            })
        if overview.user == nil, overview.sessions.items.isEmpty, overview.events.isEmpty { throw .notFound("user") }
        return overview
    }
}

extension Sequence<RecordedEvent> {
    /// The last address of each session in events, the newest of which is first. Refreshes leave no event, so that this is the
    /// address of the login for most.
    var addresses: [Identifier<Session>: String] {
        let pairs = compactMap { recorded -> (Identifier<Session>, String)? in
            let event = recorded.event
            guard event.actor == Origin.userActor, let id = event.sessionID, let address = event.remoteAddress
            else { return nil }
            return (id, address)
        }
        return Dictionary(pairs) { newest, _ in newest }
    }
}
