import Sessions

/// Two stores, of which each call asks both.
struct TwinStore: Store {
    let first: any Store
    let second: any Store

    init(_ first: any Store, _ second: any Store) { (self.first, self.second) = (first, second) }

    private func both<Value>(
        _ call: (any Store) async throws(StoreError) -> Value
    ) async throws(StoreError) -> Value {
        let (one, other) = (try await call(first), try await call(second))
        guard isSame(one, other) else { throw .corrupted("the stores differ: \(one) and \(other)") }
        return one
    }

    private func isSame<Value>(_ one: Value, _ other: Value) -> Bool {
        if let one = one as? any Equatable { return one.isEqual(to: other) }
        return String(reflecting: one) == String(reflecting: other)
    }

    var keyRevision: Int64 { first.keyRevision }

    func updateSession<Outcome: Sendable>(
        _ id: Identifier<Session>, _ change: @escaping @Sendable (inout SessionChange) -> Outcome
    ) async throws(StoreError) -> Outcome? {
        try await both { (store) async throws(StoreError) in try await store.updateSession(id, change) }
    }

    /// What both stores lay before `change`, and what it makes of it, must be the same: it keeps the outcome of the second one alone.
    func changeSession(
        _ id: Identifier<Session>, _ change: @escaping @Sendable (inout SessionChange) -> Void,
        preparing prepare: () -> Void
    ) async throws(StoreError) -> Bool {
        let seen = try await updateSession(id) { edit -> String in
            let before = String(reflecting: edit.record)
            change(&edit)
            return before + String(reflecting: edit.session) + String(reflecting: edit.events)
        }
        if seen != nil { prepare() }
        return seen != nil
    }

    func openSession<Outcome: Sendable>(
        userID: Identifier<User>, clientID: String, deviceID: String,
        _ decide: @escaping @Sendable (inout SessionOpening) -> Outcome
    ) async throws(StoreError) -> Outcome? {
        try await both { (store) async throws(StoreError) in
            try await store.openSession(userID: userID, clientID: clientID, deviceID: deviceID, decide)
        }
    }

    func openSession<Outcome: Sendable>(
        by login: IdentityLogin, clientID: String, deviceID: String,
        _ decide: @escaping @Sendable (inout SessionOpening) -> Outcome
    ) async throws(StoreError) -> Outcome? {
        try await both { (store) async throws(StoreError) in
            try await store.openSession(by: login, clientID: clientID, deviceID: deviceID, decide)
        }
    }

    func use(_ tokens: [OneTimeToken]) async throws(StoreError) -> [Bool] {
        try await both { (store) async throws(StoreError) in try await store.use(tokens) }
    }

    func usedTokens(
        after cursor: [UInt8]?, at now: Instant, limit: Int
    ) async throws(StoreError) -> [OneTimeToken] {
        try await both { (store) async throws(StoreError) in
            try await store.usedTokens(after: cursor, at: now, limit: limit)
        }
    }

    func sweepUsedTokens(before instant: Instant, limit: Int) async throws(StoreError) -> Int {
        try await both { (store) async throws(StoreError) in
            try await store.sweepUsedTokens(before: instant, limit: limit)
        }
    }

    func failedAttempts(at target: LockoutTarget) async throws(StoreError) -> FailedAttempts? {
        try await both { (store) async throws(StoreError) in try await store.failedAttempts(at: target) }
    }

    func updateFailedAttempts<Outcome: Sendable>(
        at target: LockoutTarget, _ change: @escaping @Sendable (inout FailedAttemptsChange) -> Outcome
    ) async throws(StoreError) -> Outcome {
        try await both { (store) async throws(StoreError) in try await store.updateFailedAttempts(at: target, change) }
    }

    func sweepFailedAttempts(before instant: Instant, limit: Int) async throws(StoreError) -> Int {
        try await both { (store) async throws(StoreError) in
            try await store.sweepFailedAttempts(before: instant, limit: limit)
        }
    }

    func session(_ id: Identifier<Session>) async throws(StoreError) -> SessionRecord? {
        try await both { (store) async throws(StoreError) in try await store.session(id) }
    }

    func sessions(
        of userID: Identifier<User>, after cursor: String?, limit: Int
    ) async throws(StoreError) -> Page<SessionRecord> {
        try await both { (store) async throws(StoreError) in
            try await store.sessions(of: userID, after: cursor, limit: limit)
        }
    }

    func sessions(
        of userID: Identifier<User>, onDevice deviceID: String
    ) async throws(StoreError) -> [SessionRecord] {
        try await both { (store) async throws(StoreError) in
            try await store.sessions(of: userID, onDevice: deviceID)
        }
    }

    func latestSessions(
        of userID: Identifier<User>, limit: Int, lookMax: Int
    ) async throws(StoreError) -> [SessionRecord] {
        try await both { (store) async throws(StoreError) in
            try await store.latestSessions(of: userID, limit: limit, lookMax: lookMax)
        }
    }

    func hasSession(
        of userID: Identifier<User>, onDevice deviceID: String, before instant: Instant, lookMax: Int
    ) async throws(StoreError) -> Bool {
        try await both { (store) async throws(StoreError) in
            try await store.hasSession(of: userID, onDevice: deviceID, before: instant, lookMax: lookMax)
        }
    }

    func insertUser(_ user: User, events: [AuditEvent]) async throws(StoreError) -> Bool {
        try await both { (store) async throws(StoreError) in try await store.insertUser(user, events: events) }
    }

    func user(_ reference: UserReference) async throws(StoreError) -> User? {
        try await both { (store) async throws(StoreError) in try await store.user(reference) }
    }

    func users(matching query: String?, after cursor: String?, limit: Int) async throws(StoreError) -> Page<User> {
        try await both { (store) async throws(StoreError) in
            try await store.users(matching: query, after: cursor, limit: limit)
        }
    }

    func updateUser<Outcome: Sendable>(
        _ reference: UserReference, asking sessionID: Identifier<Session>?,
        _ change: @escaping @Sendable (inout UserChange) -> Outcome
    ) async throws(StoreError) -> UserUpdate<Outcome> {
        try await both { (store) async throws(StoreError) in
            try await store.updateUser(reference, asking: sessionID, change)
        }
    }

    func clients() async throws(StoreError) -> [Client] {
        try await both { (store) async throws(StoreError) in try await store.clients() }
    }

    func client(_ id: String) async throws(StoreError) -> Client? {
        try await both { (store) async throws(StoreError) in try await store.client(id) }
    }

    func settings() async throws(StoreError) -> Settings {
        try await both { (store) async throws(StoreError) in try await store.settings() }
    }

    func updateCatalogue<Outcome: Sendable>(
        _ change: @escaping @Sendable (inout CatalogueChange) -> Outcome
    ) async throws(StoreError) -> Outcome {
        try await both { (store) async throws(StoreError) in try await store.updateCatalogue(change) }
    }

    func updateSigningKeys<Outcome: Sendable>(
        _ change: @escaping @Sendable (inout [StoredSigningKey], inout [AuditEvent]) -> Outcome
    ) async throws(StoreError) -> Outcome {
        try await both { (store) async throws(StoreError) in try await store.updateSigningKeys(change) }
    }

    func updateWebhook<Outcome: Sendable>(
        _ name: String, _ change: @escaping @Sendable (inout WebhookProgress?) -> Outcome
    ) async throws(StoreError) -> Outcome {
        try await both { (store) async throws(StoreError) in try await store.updateWebhook(name, change) }
    }

    func webhooks() async throws(StoreError) -> [String: WebhookProgress] {
        try await both { (store) async throws(StoreError) in try await store.webhooks() }
    }

    func providerCheck(of id: Identifier<Session>) async throws(StoreError) -> ProviderCheck? {
        try await both { (store) async throws(StoreError) in try await store.providerCheck(of: id) }
    }

    /// Each of the two has its own.
    func databaseLife() async throws(StoreError) -> String { "" }

    func claimProviderChecks(
        of provider: String, dueBy now: Instant, until end: Instant, limit: Int
    ) async throws(StoreError) -> [ProviderCheck] {
        try await both { (store) async throws(StoreError) in
            try await store.claimProviderChecks(of: provider, dueBy: now, until: end, limit: limit)
        }
    }

    func updateProviderCheck<Outcome: Sendable>(
        _ id: Identifier<Session>, _ change: @escaping @Sendable (inout ProviderCheckChange) -> Outcome
    ) async throws(StoreError) -> Outcome? {
        try await both { (store) async throws(StoreError) in try await store.updateProviderCheck(id, change) }
    }

    func updateAdminKeys<Outcome: Sendable>(
        _ change: @escaping @Sendable (inout [AdminKey], inout [AuditEvent]) -> Outcome
    ) async throws(StoreError) -> Outcome {
        try await both { (store) async throws(StoreError) in try await store.updateAdminKeys(change) }
    }

    func adminKeys() async throws(StoreError) -> [AdminKey] {
        try await both { (store) async throws(StoreError) in try await store.adminKeys() }
    }

    func append(_ events: [AuditEvent]) async throws(StoreError) {
        try await both { (store) async throws(StoreError) in try await store.append(events) }
    }

    func events(
        after cursor: Int64, limit: Int, userID: Identifier<User>?, sessionID: Identifier<Session>?
    ) async throws(StoreError) -> [RecordedEvent] {
        try await both { (store) async throws(StoreError) in
            try await store.events(after: cursor, limit: limit, userID: userID, sessionID: sessionID)
        }
    }

    func sweepSessions(
        after cursor: Identifier<Session>?, limit: Int, _ isForgotten: @escaping @Sendable (SessionRecord) -> Bool
    ) async throws(StoreError) -> SweepStep {
        try await both { (store) async throws(StoreError) in
            try await store.sweepSessions(after: cursor, limit: limit, isForgotten)
        }
    }

    func sweepEvents(before instant: Instant, limit: Int) async throws(StoreError) -> Int {
        try await both { (store) async throws(StoreError) in try await store.sweepEvents(before: instant, limit: limit)
        }
    }

    /// Numbers differ: SQLite's are those of events. So does the order of sessions that end with one change.
    func revocations(after cursor: Int64, at now: Instant, limit: Int) async throws(StoreError) -> [Revocation] {
        _ = try await both { (store) async throws(StoreError) in
            try await store.revocations(after: cursor, at: now, limit: limit).map { revocation in
                var revocation = revocation
                revocation.number = 0
                return String(reflecting: revocation)
            }.sorted()
        }
        return try await first.revocations(after: cursor, at: now, limit: limit)
    }

    func lastRevocation() async throws(StoreError) -> Int64 { 0 }

    func sweepRevocations(before instant: Instant, limit: Int) async throws(StoreError) -> Int {
        try await both { (store) async throws(StoreError) in
            try await store.sweepRevocations(before: instant, limit: limit)
        }
    }

    func exportSessions(after cursor: Identifier<Session>?, limit: Int) async throws(StoreError) -> [Session] {
        try await both { (store) async throws(StoreError) in try await store.exportSessions(after: cursor, limit: limit)
        }
    }

    func importUsers(_ users: [User], _ mode: ImportMode) async throws(StoreError) -> [ImportOutcome] {
        try await both { (store) async throws(StoreError) in try await store.importUsers(users, mode) }
    }

    func remembered(after cursor: Int64, limit: Int) async throws(StoreError) -> LedgerStep {
        try await both { (store) async throws(StoreError) in try await store.remembered(after: cursor, limit: limit) }
    }

    func remembered(of users: Set<Identifier<User>>) async throws(StoreError) -> [RecordedEvent] {
        try await both { (store) async throws(StoreError) in try await store.remembered(of: users) }
    }

    func importSessions(_ sessions: [Session], _ mode: ImportMode) async throws(StoreError) -> [ImportOutcome] {
        try await both { (store) async throws(StoreError) in try await store.importSessions(sessions, mode) }
    }

    func importRevocations(_ revocations: [Revocation]) async throws(StoreError) -> [ImportOutcome] {
        try await both { (store) async throws(StoreError) in try await store.importRevocations(revocations) }
    }

    func userIDs(named usernames: Set<String>) async throws(StoreError) -> [String: Identifier<User>] {
        try await both { (store) async throws(StoreError) in try await store.userIDs(named: usernames) }
    }

    func importForeignTokens(
        _ tokens: [ForeignToken], _ mode: ImportMode
    ) async throws(StoreError) -> [ImportOutcome] {
        try await both { (store) async throws(StoreError) in try await store.importForeignTokens(tokens, mode) }
    }

    func foreignTokens(after cursor: [UInt8]?, limit: Int) async throws(StoreError) -> [ForeignToken] {
        try await both { (store) async throws(StoreError) in try await store.foreignTokens(after: cursor, limit: limit)
        }
    }

    func updateForeignToken<Outcome: Sendable>(
        _ digest: [UInt8], _ change: @escaping @Sendable (inout ForeignTokenChange) -> Outcome
    ) async throws(StoreError) -> Outcome? {
        try await both { (store) async throws(StoreError) in try await store.updateForeignToken(digest, change) }
    }

    func identity(_ key: Identity.Key) async throws(StoreError) -> Identity? {
        try await both { (store) async throws(StoreError) in try await store.identity(key) }
    }

    func identities(of userID: Identifier<User>) async throws(StoreError) -> [Identity] {
        try await both { (store) async throws(StoreError) in try await store.identities(of: userID) }
    }

    func insertIdentity(_ insertion: IdentityInsertion) async throws(StoreError) -> IdentityInsertion.Outcome {
        try await both { (store) async throws(StoreError) in try await store.insertIdentity(insertion) }
    }

    func deleteIdentity(
        _ key: Identity.Key, of userID: Identifier<User>, events: [AuditEvent]
    ) async throws(StoreError) -> Bool {
        try await both { (store) async throws(StoreError) in
            try await store.deleteIdentity(key, of: userID, events: events)
        }
    }

    func identities(after cursor: Identity.Key?, limit: Int) async throws(StoreError) -> [Identity] {
        try await both { (store) async throws(StoreError) in try await store.identities(after: cursor, limit: limit) }
    }

    func importIdentities(_ identities: [Identity], _ mode: ImportMode) async throws(StoreError) -> [ImportOutcome] {
        try await both { (store) async throws(StoreError) in try await store.importIdentities(identities, mode) }
    }

    func ping() async throws(StoreError) {
        try await both { (store) async throws(StoreError) in try await store.ping() }
    }
}

extension Equatable {
    fileprivate func isEqual(to other: some Any) -> Bool { (other as? Self) == self }
}
