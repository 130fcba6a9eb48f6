/// Settings and clients from another store. They are imported together, because a server does not start with settings that
/// conflict with one client. Clients that exist only here are kept.
public struct CatalogueImport: Sendable {
    /// The settings, in order; nearly always one.
    public var settings: [Settings] = []
    /// The clients, in order.
    public var clients: [Client] = []

    /// Whether the import overwrites existing lifetimes and clients. Epochs, ends and cutoffs only increase in any case.
    let isTaken: Bool
    /// The record of clients that were deleted here; empty in an import that replaces.
    let memory: ImportLedger
    /// The ids of clients that existed here before `memory` was read: one that is missing now was deleted since. Empty in an
    /// import that replaces.
    let known: Set<String>
    /// Whether clients were deleted here that `memory` does not hold.
    let isForgetful: Bool
    /// Whether access tokens may exist that were issued by the settings of this store.
    let hasSessions: Bool
    let policy: RefreshPolicy
    let now: Instant

    /// An import at `now`.
    public init(
        isTaken: Bool, memory: ImportLedger, known: Set<String>, isForgetful: Bool = false, hasSessions: Bool,
        policy: RefreshPolicy, now: Instant
    ) {
        (self.isTaken, self.memory, self.known, self.isForgetful) = (isTaken, memory, known, isForgetful)
        (self.hasSessions, self.policy, self.now) = (hasSessions, policy, now)
    }

    /// The outcome for one client.
    public enum ClientOutcome: Hashable, Sendable {
        /// The outcome for a record of any kind.
        case done(ImportOutcome)
        /// The client conflicts with the settings; the text says why in one sentence. An existing client is kept.
        case impossible(String)
    }

    /// The outcome of the whole import.
    public enum Outcome: Hashable, Sendable {
        /// One outcome for each record, in order.
        case done(settings: [ImportOutcome], clients: [ClientOutcome])
        /// The settings are impossible here; the text says why in one sentence. Nothing was changed.
        case impossible(String)
    }

    /// Imports everything into `change`, or nothing. Pure.
    public func apply(to change: inout CatalogueChange) -> Outcome {
        var next = change
        let settings = settings.map { settings in next.changeSettings { take(settings, &$0) } }
        let lifetimes = next.settings.sessions
        let isOther = lifetimes != change.settings.sessions
        let maximum = policy.absoluteMaximum(beside: change.settings)
        func problem(beside clients: [Client]) -> String? {
            Lifetimes.problem(settings: lifetimes, clients: clients, absoluteMaximum: maximum)
        }
        if isOther, let problem = problem(beside: []) { return .impossible(problem) }
        let clients = clients.map { client in
            next.change(client.id) { take(client, &$0) { problem(beside: [$0]) } }
        }
        if isOther, let problem = problem(beside: next.clients.inOrder) { return .impossible(problem) }
        change = next
        return .done(settings: settings, clients: clients)
    }

    /// Imports settings. The counters only increase, so that a "revoke all" stays in force.
    private func take(_ settings: Settings, _ change: inout SettingsChange) -> ImportOutcome {
        let old = change.settings
        let event = AuditEvent(.settingsChanged, at: now, by: .importing, reason: "import")
        var events: [AuditEvent] = []
        change.settings.epoch = max(old.epoch, settings.epoch)
        if let end = settings.earlierTokensEnd {
            change.settings.earlierTokensEnd = max(end, old.earlierTokensEnd ?? end)
        }
        if let cut = settings.revokedBefore, cut.epoch > old.revokedBefore?.epoch ?? .min {
            change.settings.revokedBefore = cut
        }
        if isTaken { change.settings.branding = settings.branding }
        if settings.sessions == old.sessions || !isTaken {
            if change.settings != old { events = [event] }
        } else {
            var event = event
            event.reason = ValueDifference(from: old.sessions, to: settings.sessions)?.reason
            change.setLifetimes(settings.sessions, policy, event)
            events = hasSessions ? change.events : [event]
        }
        // The other store's "revoke all" also revokes tokens that were issued here since.
        if hasSessions, change.settings.revokedBefore != old.revokedBefore { events[0].revokes = .allSessionsEnded }
        change.events = events
        let isTheirs = change.settings.sessions == settings.sessions && change.settings.branding == settings.branding
        return isTheirs ? .written : .differs
    }

    /// Creates a client, or keeps or replaces the existing one, depending on the mode. Its epoch only increases.
    private func take(
        _ client: Client, _ change: inout ClientChange, _ problem: (Client) -> String?
    ) -> ClientOutcome {
        var taken = client
        if let old = change.client {
            if !isTaken { taken = old }
            // A client that was deleted and created again here has a higher epoch, so that its earlier sessions stay ended.
            taken.epoch = max(client.epoch, old.epoch)
            taken.tokenEpoch = max(client.tokenEpoch, old.tokenEpoch)
        } else if memory.hasDeleted(client) || known.contains(client.id) {
            return .done(.differs)
        }
        if let problem = problem(taken) { return .impossible(problem) }
        guard let old = change.client else {
            // Tokens of an earlier client with this id may be there still.
            if isForgetful || memory.hasDeleted(clientID: client.id) { taken.tokenEpoch = change.settings.epoch + 1 }
            change.client = taken
            change.events = [
                AuditEvent(.clientCreated, at: now, by: .importing, clientID: client.id, reason: "import")
            ]
            return .done(.written)
        }
        if old != taken {
            let event = AuditEvent(.clientChanged, at: now, by: .importing, clientID: client.id, reason: "import")
            change.replace(old, by: taken, policy, event)
            if !hasSessions { change.events[0] = event }
            // The client was deleted and created again in the other store, so its earlier sessions are ended.
            if hasSessions, taken.epoch > old.epoch { change.events[0].revokes = .clientDeleted }
        }
        (taken.epoch, taken.tokenEpoch) = (client.epoch, client.tokenEpoch)
        return .done(taken == client ? .written : .differs)
    }
}
