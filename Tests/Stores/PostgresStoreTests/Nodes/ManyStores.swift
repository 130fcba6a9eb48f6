import PostgresStore
import Sessions
import Synchronization

/// Several stores on one database, of which each call takes the next: what one has acknowledged, all must know.
final class ManyStores: Store {
    private let stores: [PostgresStore]
    private let calls = Atomic<Int>(0)

    init(_ stores: [PostgresStore]) { self.stores = stores }

    private var next: PostgresStore {
        stores[calls.wrappingAdd(1, ordering: .relaxed).newValue % stores.count]
    }

    var keyRevision: Int64 { next.keyRevision }

    func updateSession<Outcome: Sendable>(
        _ id: Identifier<Session>, _ change: @escaping @Sendable (inout SessionChange) -> Outcome
    ) async throws(StoreError) -> Outcome? { try await next.updateSession(id, change) }

    func openSession<Outcome: Sendable>(
        userID: Identifier<User>, clientID: String, deviceID: String,
        _ decide: @escaping @Sendable (inout SessionOpening) -> Outcome
    ) async throws(StoreError) -> Outcome? {
        try await next.openSession(userID: userID, clientID: clientID, deviceID: deviceID, decide)
    }

    func openSession<Outcome: Sendable>(
        by login: IdentityLogin, clientID: String, deviceID: String,
        _ decide: @escaping @Sendable (inout SessionOpening) -> Outcome
    ) async throws(StoreError) -> Outcome? {
        try await next.openSession(by: login, clientID: clientID, deviceID: deviceID, decide)
    }

    func use(_ tokens: [OneTimeToken]) async throws(StoreError) -> [Bool] { try await next.use(tokens) }

    func usedTokens(
        after cursor: [UInt8]?, at now: Instant, limit: Int
    ) async throws(StoreError) -> [OneTimeToken] {
        try await next.usedTokens(after: cursor, at: now, limit: limit)
    }

    func sweepUsedTokens(before instant: Instant, limit: Int) async throws(StoreError) -> Int {
        try await next.sweepUsedTokens(before: instant, limit: limit)
    }

    func failedAttempts(at target: LockoutTarget) async throws(StoreError) -> FailedAttempts? {
        try await next.failedAttempts(at: target)
    }

    func updateFailedAttempts<Outcome: Sendable>(
        at target: LockoutTarget, _ change: @escaping @Sendable (inout FailedAttemptsChange) -> Outcome
    ) async throws(StoreError) -> Outcome {
        try await next.updateFailedAttempts(at: target, change)
    }

    func sweepFailedAttempts(before instant: Instant, limit: Int) async throws(StoreError) -> Int {
        try await next.sweepFailedAttempts(before: instant, limit: limit)
    }

    func session(_ id: Identifier<Session>) async throws(StoreError) -> SessionRecord? { try await next.session(id) }

    func sessions(
        of userID: Identifier<User>, after cursor: String?, limit: Int
    ) async throws(StoreError) -> Page<SessionRecord> {
        try await next.sessions(of: userID, after: cursor, limit: limit)
    }

    func sessions(
        of userID: Identifier<User>, onDevice deviceID: String
    ) async throws(StoreError) -> [SessionRecord] {
        try await next.sessions(of: userID, onDevice: deviceID)
    }

    func latestSessions(
        of userID: Identifier<User>, limit: Int, lookMax: Int
    ) async throws(StoreError) -> [SessionRecord] {
        try await next.latestSessions(of: userID, limit: limit, lookMax: lookMax)
    }

    func hasSession(
        of userID: Identifier<User>, onDevice deviceID: String, before instant: Instant, lookMax: Int
    ) async throws(StoreError) -> Bool {
        try await next.hasSession(of: userID, onDevice: deviceID, before: instant, lookMax: lookMax)
    }

    func insertUser(_ user: User, events: [AuditEvent]) async throws(StoreError) -> Bool {
        try await next.insertUser(user, events: events)
    }

    func user(_ reference: UserReference) async throws(StoreError) -> User? { try await next.user(reference) }

    func users(matching query: String?, after cursor: String?, limit: Int) async throws(StoreError) -> Page<User> {
        try await next.users(matching: query, after: cursor, limit: limit)
    }

    func updateUser<Outcome: Sendable>(
        _ reference: UserReference, asking sessionID: Identifier<Session>?,
        _ change: @escaping @Sendable (inout UserChange) -> Outcome
    ) async throws(StoreError) -> UserUpdate<Outcome> {
        try await next.updateUser(reference, asking: sessionID, change)
    }

    func clients() async throws(StoreError) -> [Client] { try await next.clients() }

    func client(_ id: String) async throws(StoreError) -> Client? { try await next.client(id) }

    func settings() async throws(StoreError) -> Settings { try await next.settings() }

    func updateCatalogue<Outcome: Sendable>(
        _ change: @escaping @Sendable (inout CatalogueChange) -> Outcome
    ) async throws(StoreError) -> Outcome { try await next.updateCatalogue(change) }

    func updateSigningKeys<Outcome: Sendable>(
        _ change: @escaping @Sendable (inout [StoredSigningKey], inout [AuditEvent]) -> Outcome
    ) async throws(StoreError) -> Outcome { try await next.updateSigningKeys(change) }

    func updateAdminKeys<Outcome: Sendable>(
        _ change: @escaping @Sendable (inout [AdminKey], inout [AuditEvent]) -> Outcome
    ) async throws(StoreError) -> Outcome { try await next.updateAdminKeys(change) }

    func adminKeys() async throws(StoreError) -> [AdminKey] { try await next.adminKeys() }

    func append(_ events: [AuditEvent]) async throws(StoreError) { try await next.append(events) }

    func events(
        after cursor: Int64, limit: Int, userID: Identifier<User>?, sessionID: Identifier<Session>?
    ) async throws(StoreError) -> [RecordedEvent] {
        try await next.events(after: cursor, limit: limit, userID: userID, sessionID: sessionID)
    }

    func sweepSessions(
        after cursor: Identifier<Session>?, limit: Int, _ isForgotten: @escaping @Sendable (SessionRecord) -> Bool
    ) async throws(StoreError) -> SweepStep {
        try await next.sweepSessions(after: cursor, limit: limit, isForgotten)
    }

    func sweepEvents(before instant: Instant, limit: Int) async throws(StoreError) -> Int {
        try await next.sweepEvents(before: instant, limit: limit)
    }

    func revocations(after cursor: Int64, at now: Instant, limit: Int) async throws(StoreError) -> [Revocation] {
        try await next.revocations(after: cursor, at: now, limit: limit)
    }

    func lastRevocation() async throws(StoreError) -> Int64 { try await next.lastRevocation() }

    func sweepRevocations(before instant: Instant, limit: Int) async throws(StoreError) -> Int {
        try await next.sweepRevocations(before: instant, limit: limit)
    }

    func updateWebhook<Outcome: Sendable>(
        _ name: String, _ change: @escaping @Sendable (inout WebhookProgress?) -> Outcome
    ) async throws(StoreError) -> Outcome { try await next.updateWebhook(name, change) }

    func webhooks() async throws(StoreError) -> [String: WebhookProgress] { try await next.webhooks() }

    func providerCheck(of id: Identifier<Session>) async throws(StoreError) -> ProviderCheck? {
        try await next.providerCheck(of: id)
    }

    func databaseLife() async throws(StoreError) -> String { try await next.databaseLife() }

    func claimProviderChecks(
        of provider: String, dueBy now: Instant, until end: Instant, limit: Int
    ) async throws(StoreError) -> [ProviderCheck] {
        try await next.claimProviderChecks(of: provider, dueBy: now, until: end, limit: limit)
    }

    func updateProviderCheck<Outcome: Sendable>(
        _ id: Identifier<Session>, _ change: @escaping @Sendable (inout ProviderCheckChange) -> Outcome
    ) async throws(StoreError) -> Outcome? { try await next.updateProviderCheck(id, change) }

    func exportSessions(after cursor: Identifier<Session>?, limit: Int) async throws(StoreError) -> [Session] {
        try await next.exportSessions(after: cursor, limit: limit)
    }

    func importUsers(_ users: [User], _ mode: ImportMode) async throws(StoreError) -> [ImportOutcome] {
        try await next.importUsers(users, mode)
    }

    func remembered(after cursor: Int64, limit: Int) async throws(StoreError) -> LedgerStep {
        try await next.remembered(after: cursor, limit: limit)
    }

    func remembered(of users: Set<Identifier<User>>) async throws(StoreError) -> [RecordedEvent] {
        try await next.remembered(of: users)
    }

    func importSessions(_ sessions: [Session], _ mode: ImportMode) async throws(StoreError) -> [ImportOutcome] {
        try await next.importSessions(sessions, mode)
    }

    func importRevocations(_ revocations: [Revocation]) async throws(StoreError) -> [ImportOutcome] {
        try await next.importRevocations(revocations)
    }

    func userIDs(named usernames: Set<String>) async throws(StoreError) -> [String: Identifier<User>] {
        try await next.userIDs(named: usernames)
    }

    func importForeignTokens(
        _ tokens: [ForeignToken], _ mode: ImportMode
    ) async throws(StoreError) -> [ImportOutcome] { try await next.importForeignTokens(tokens, mode) }

    func foreignTokens(after cursor: [UInt8]?, limit: Int) async throws(StoreError) -> [ForeignToken] {
        try await next.foreignTokens(after: cursor, limit: limit)
    }

    func updateForeignToken<Outcome: Sendable>(
        _ digest: [UInt8], _ change: @escaping @Sendable (inout ForeignTokenChange) -> Outcome
    ) async throws(StoreError) -> Outcome? { try await next.updateForeignToken(digest, change) }

    func identity(_ key: Identity.Key) async throws(StoreError) -> Identity? {
        try await next.identity(key)
    }

    func identities(of userID: Identifier<User>) async throws(StoreError) -> [Identity] {
        try await next.identities(of: userID)
    }

    func insertIdentity(_ insertion: IdentityInsertion) async throws(StoreError) -> IdentityInsertion.Outcome {
        try await next.insertIdentity(insertion)
    }

    func deleteIdentity(
        _ key: Identity.Key, of userID: Identifier<User>, events: [AuditEvent]
    ) async throws(StoreError) -> Bool {
        try await next.deleteIdentity(key, of: userID, events: events)
    }

    func identities(after cursor: Identity.Key?, limit: Int) async throws(StoreError) -> [Identity] {
        try await next.identities(after: cursor, limit: limit)
    }

    func importIdentities(_ identities: [Identity], _ mode: ImportMode) async throws(StoreError) -> [ImportOutcome] {
        try await next.importIdentities(identities, mode)
    }

    func ping() async throws(StoreError) { try await next.ping() }
}
