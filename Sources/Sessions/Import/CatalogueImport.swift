/// Settings and clients that come from another store. They are taken together, beside the clients that are only here: with settings that
/// one client does not go together with, no server starts.
public struct CatalogueImport: Sendable {
    /// Settings, one after the other; nearly always there is one.
    public var settings: [Settings] = []
    /// Clients, one after the other.
    public var clients: [Client] = []

    /// Whether lifetimes and clients that are here are overwritten. Counters, ends and cuts only go further in any case.
    let isTaken: Bool
    /// What of clients was deleted here; says nothing in an import that replaces.
    let memory: ImportLedger
    /// Ids of clients that were here before `memory` was read: who is gone since was deleted. None in an import that replaces.
    let known: Set<String>
    /// Whether there can be tokens that were issued by the settings of here.
    let hasSessions: Bool
    let policy: RefreshPolicy
    let now: Instant

    /// An import at `now`.
    public init(
        isTaken: Bool, memory: ImportLedger, known: Set<String>, hasSessions: Bool, policy: RefreshPolicy, now: Instant
    ) {
        (self.isTaken, self.memory, self.known) = (isTaken, memory, known)
        (self.hasSessions, self.policy, self.now) = (hasSessions, policy, now)
    }

    /// What became of one client: how it stands, or what is impossible about it in one sentence.
    public enum ClientOutcome: Hashable, Sendable {
        /// As of any record.
        case done(ImportOutcome)
        /// It does not go together with the settings; the one that is here, if any, stays.
        case impossible(String)
    }

    /// What became of everything.
    public enum Outcome: Hashable, Sendable {
        /// One outcome for each, in order.
        case done(settings: [ImportOutcome], clients: [ClientOutcome])
        /// The settings are impossible here, for what this sentence says: nothing was changed.
        case impossible(String)
    }

    /// Takes it all over into `change`, or nothing. Pure.
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

    /// The counters only go up, so that what was ended by a "revoke all" stays so.
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
        if settings.sessions == old.sessions || !isTaken {
            if change.settings != old { events = [event] }
        } else {
            change.setLifetimes(settings.sessions, policy, event)
            events = hasSessions ? change.events : [event]
        }
        // What was issued here since the "revoke all" there is over too.
        if hasSessions, change.settings.revokedBefore != old.revokedBefore { events[0].revokes = .allSessionsEnded }
        change.events = events
        return change.settings.sessions == settings.sessions ? .written : .differs
    }

    /// Makes a client, or does with the one that is here what the mode is; its epoch only goes up.
    private func take(
        _ client: Client, _ change: inout ClientChange, _ problem: (Client) -> String?
    ) -> ClientOutcome {
        var taken = client
        if let old = change.client {
            if !isTaken { taken = old }
            // What was deleted here and made again has gone further: the sessions of before stay over.
            taken.epoch = max(client.epoch, old.epoch)
        } else if memory.hasDeleted(client) || known.contains(client.id) {
            return .done(.differs)
        }
        if let problem = problem(taken) { return .impossible(problem) }
        guard let old = change.client else {
            change.client = taken
            change.events = [
                AuditEvent(.clientCreated, at: now, by: .importing, clientID: client.id, reason: "import")
            ]
            return .done(.written)
        }
        if old != taken {
            let event = AuditEvent(.clientChanged, at: now, by: .importing, clientID: client.id, reason: "import")
            change.replace(old, by: taken, policy, event)
            if !hasSessions { change.events = [event] }
            // Deleted there, and made again: the sessions of before are over.
            if hasSessions, taken.epoch > old.epoch { change.events[0].revokes = .clientDeleted }
        }
        taken.epoch = client.epoch
        return .done(taken == client ? .written : .differs)
    }
}
