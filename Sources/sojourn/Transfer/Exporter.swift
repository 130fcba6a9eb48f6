import Sessions

/// Writes everything that a store holds but its audit trail, line by line, a part at a time.
struct Exporter {
    let store: any Store
    let now: Instant
    var progress: ProgressBar
    private var counts: [TransferRecord.Kind: Int64] = [:]
    /// Whether there are sessions that a provider is asked about.
    private var hasProviderChecks = false

    /// An export of `store`, made at `now`.
    init(store: any Store, now: Instant, progress: ProgressBar) {
        self.store = store
        self.now = now
        self.progress = progress
    }

    /// What the rest hangs on, and a "revoke all" or the end of a client changes.
    struct Base: Equatable {
        let signingKeys: [StoredSigningKey]
        let adminKeys: [AdminKey]
        let settings: Settings
        let clients: [Client]

        static func == (one: Base, other: Base) -> Bool {
            // That a key is used changes nothing.
            (one.signingKeys, one.adminKeys.map(\.hash), one.settings, one.clients)
                == (other.signingKeys, other.adminKeys.map(\.hash), other.settings, other.clients)
        }
    }

    /// Writes it all. Nodes may serve meanwhile: what they change of single users and sessions comes with the next export, but an
    /// export whose parts a change of everything has come between would be of no moment that ever was, and is none.
    mutating func run(program: String, to writer: inout LineWriter) async throws(Failure) {
        try await finish(after: begin(program: program, to: &writer), to: &writer)
    }

    /// Keys come first and settings before what depends on them: an import takes them as they come.
    mutating func begin(program: String, to writer: inout LineWriter) async throws(Failure) -> Base {
        try writer.write(TransferRecord.header(program: program, at: now).line())
        let base = try await readBase()
        for key in base.signingKeys { try write(.signingKey, key.members, to: &writer) }
        for key in base.adminKeys { try write(.adminKey, key.members, to: &writer) }
        var settings = base.settings
        if let end = settings.earlierTokensEnd, end <= now { settings.earlierTokensEnd = nil }
        try write(.settings, settings.members, to: &writer)
        for client in base.clients { try write(.client, client.members, to: &writer) }
        return base
    }

    private func readBase() async throws(Failure) -> Base {
        try await read { () async throws(StoreError) in
            Base(
                signingKeys: try await store.updateSigningKeys { keys, _ in keys },
                adminKeys: try await store.adminKeys(), settings: try await store.settings(),
                clients: try await store.clients())
        }
    }

    /// Writes the rest, if `base` is still so after it.
    mutating func finish(after base: Base, to writer: inout LineWriter) async throws(Failure) {
        try await writeUsers(to: &writer)
        try await writeIdentities(to: &writer)
        try await writeSessions(to: &writer)
        if hasProviderChecks { try await writeProviderChecks(to: &writer) }
        try await writeForeignTokens(to: &writer)
        try await writeUsedTokens(to: &writer)
        try await writeRevocations(to: &writer)
        progress.finish()
        guard try await readBase() == base else {
            throw Failure(
                .unavailable, "settings, clients or keys were changed while the rest was exported: run it again")
        }
        try writer.write(TransferRecord.end(counts).line())
        try writer.finish()
    }

    /// How many records were written, by kind, for people.
    var summary: String { TransferRecord.summary(counts) }

    private mutating func writeUsers(to writer: inout LineWriter) async throws(Failure) {
        var cursor: String?
        repeat {
            let page = try await read { [cursor] () async throws(StoreError) in
                try await store.users(matching: nil, after: cursor, limit: Parts<User>.size)
            }
            for user in page.items { try write(.user, user.members, to: &writer) }
            progress.show(nil, counts[.user] ?? 0, "users")
            cursor = page.nextCursor
        } while cursor != nil
    }

    private mutating func writeIdentities(to writer: inout LineWriter) async throws(Failure) {
        var parts = Parts { [store] (last: Identity?) async throws(StoreError) in
            try await store.identities(after: last?.key, limit: Parts<Identity>.size)
        }
        while let part = try await next(of: &parts) {
            for identity in part { try write(.identity, identity.members, to: &writer) }
        }
    }

    private var sessions: Parts<Session> {
        Parts { [store] last async throws(StoreError) in
            try await store.exportSessions(after: last?.id, limit: Parts<Session>.size)
        }
    }

    private mutating func writeSessions(to writer: inout LineWriter) async throws(Failure) {
        var parts = sessions
        while let part = try await next(of: &parts) {
            for session in part {
                try write(.session, session.members, to: &writer)
                hasProviderChecks = hasProviderChecks || session.ending == nil && session.confirmation != nil
            }
            // Ids are random and come in order, so the first bytes of one tell how far that is.
            let done = part.last.map {
                Double($0.id.bytes.prefix(4).reduce(0) { $0 << 8 | UInt64($1) }) / 4_294_967_296
            }
            progress.show(done ?? 1, counts[.session] ?? 0, "sessions")
        }
    }

    /// After all sessions, which an import must have by then.
    private mutating func writeProviderChecks(to writer: inout LineWriter) async throws(Failure) {
        var parts = sessions
        while let part = try await next(of: &parts) {
            for session in part where session.ending == nil {
                guard let confirmation = session.confirmation else { continue }
                let check = try await read { () async throws(StoreError) in
                    try await store.providerCheck(of: session.id)
                }
                guard let check else { continue }
                let line = ProviderCheckLine(check, confirmedAt: confirmation.at)
                try write(.providerCheck, line.members, to: &writer)
            }
            progress.show(nil, counts[.providerCheck] ?? 0, "provider checks")
        }
    }

    private mutating func writeForeignTokens(to writer: inout LineWriter) async throws(Failure) {
        var parts = Parts { [store] (last: ForeignToken?) async throws(StoreError) in
            try await store.foreignTokens(after: last?.digest, limit: Parts<ForeignToken>.size)
        }
        while let part = try await next(of: &parts) {
            for token in part { try write(.foreignToken, ForeignTokenLine.members(token), to: &writer) }
            progress.show(nil, counts[.foreignToken] ?? 0, "foreign tokens")
        }
    }

    private mutating func writeUsedTokens(to writer: inout LineWriter) async throws(Failure) {
        var parts = Parts { [store, now] (last: OneTimeToken?) async throws(StoreError) in
            try await store.usedTokens(after: last?.digest, at: now, limit: Parts<OneTimeToken>.size)
        }
        while let part = try await next(of: &parts) {
            for token in part { try write(.usedToken, token.members, to: &writer) }
            progress.show(nil, counts[.usedToken] ?? 0, "used tokens")
        }
    }

    /// After all that an import compares them with.
    private mutating func writeRevocations(to writer: inout LineWriter) async throws(Failure) {
        var parts = Parts(ofFeedIn: store, at: now)
        while let part = try await next(of: &parts) {
            for revocation in part { try write(.revocation, revocation.members, to: &writer) }
            progress.show(nil, counts[.revocation] ?? 0, "revocations")
        }
    }

    private mutating func write(
        _ kind: TransferRecord.Kind, _ members: TransferMembers, to writer: inout LineWriter
    ) throws(Failure) {
        try writer.write(members.line())
        counts[kind, default: 0] += 1
    }

    private func next<Row>(of parts: inout Parts<Row>) async throws(Failure) -> [Row]? {
        do throws(StoreError) { return try await parts.next() } catch { throw Failure(error) }
    }

    private func read<Value: Sendable>(
        _ body: () async throws(StoreError) -> Value
    ) async throws(Failure) -> Value {
        do throws(StoreError) { return try await body() } catch { throw Failure(error) }
    }
}

extension Failure {
    /// What a store could not do.
    init(_ error: StoreError) {
        switch error {
        case .unavailable(let cause): self.init(.unavailable, "the database cannot answer: \(cause)")
        case .corrupted(let cause): self.init(.failed, "the database contradicts itself: \(cause); run: sojourn doctor")
        }
    }
}

extension TransferRecord {
    /// `2 clients, 1000 users, 2500 sessions`: what there is of each kind.
    static func summary(_ counts: [Kind: Int64]) -> String {
        let parts = Kind.counted.compactMap { kind -> String? in
            guard let count = counts[kind], count > 0, kind != .settings else { return nil }
            return "\(count) \(count == 1 ? kind.rawValue.replacing("_", with: " ") : kind.plural)"
        }
        return parts.isEmpty ? "nothing" : parts.joined(separator: ", ")
    }
}
