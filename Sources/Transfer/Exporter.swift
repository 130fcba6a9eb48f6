public import Sessions

/// Writes everything in a store, except the audit trail, line by line.
public struct Exporter {
    let store: any Store
    let now: Instant
    private var progress: any TransferProgress
    private var counts: [TransferRecord.Kind: Int64] = [:]
    /// True if there are sessions with rechecks.
    private var hasProviderChecks = false

    /// An export of `store`, made at `now`.
    public init(store: any Store, now: Instant, progress: any TransferProgress) {
        self.store = store
        self.now = now
        self.progress = progress
    }

    /// The records on which all others depend, and which a "revoke all" or the deletion of a client changes.
    struct Base: Equatable {
        let signingKeys: [StoredSigningKey]
        let adminKeys: [AdminKey]
        let settings: Settings
        let clients: [Client]

        static func == (one: Base, other: Base) -> Bool {
            // The last use of a key does not count.
            (one.signingKeys, one.adminKeys.map(\.hash), one.settings, one.clients)
                == (other.signingKeys, other.adminKeys.map(\.hash), other.settings, other.clients)
        }
    }

    /// Writes the whole export. Nodes may serve at the same time: the next export contains their changes of single users and
    /// sessions. If they change everything at once, this export is invalid, because its parts do not fit together.
    public mutating func run(program: String, to writer: inout LineWriter) async throws(TransferError) {
        try await finish(after: begin(program: program, to: &writer), to: &writer)
    }

    /// Writes keys first, and settings before the records that depend on them, because an import reads them in this order.
    mutating func begin(program: String, to writer: inout LineWriter) async throws(TransferError) -> Base {
        try writer.write(TransferRecord.header(program: program, at: now).line())
        let base = try await readBase()
        for key in base.signingKeys { try write(.signingKey, key.members, to: &writer) }
        for key in base.adminKeys { try write(.adminKey, key.members, to: &writer) }
        try await writeLogos(to: &writer)
        var settings = base.settings
        if let end = settings.earlierTokensEnd, end <= now { settings.earlierTokensEnd = nil }
        try write(.settings, settings.members, to: &writer)
        for client in base.clients { try write(.client, client.members, to: &writer) }
        return base
    }

    private func readBase() async throws(TransferError) -> Base {
        try await read { () async throws(StoreError) in
            Base(
                signingKeys: try await store.updateSigningKeys { keys, _ in keys },
                adminKeys: try await store.adminKeys(), settings: try await store.settings(),
                clients: try await store.clients())
        }
    }

    /// Writes the other records; throws if `base` has changed since.
    mutating func finish(after base: Base, to writer: inout LineWriter) async throws(TransferError) {
        try await writeUsers(to: &writer)
        try await writeUserDetails(to: &writer)
        try await writeIdentities(to: &writer)
        try await writePasskeys(to: &writer)
        try await writeSecondFactors(to: &writer)
        try await writeSessions(base, to: &writer)
        try await writeLogins(to: &writer)
        try await writePhoneLogins(to: &writer)
        if hasProviderChecks { try await writeProviderChecks(to: &writer) }
        try await writePINs(to: &writer)
        try await writeForeignTokens(to: &writer)
        try await writeUsedTokens(to: &writer)
        try await writeRevocations(to: &writer)
        progress.finish()
        guard try await readBase() == base else {
            throw TransferError(
                .unavailable, "settings, clients or keys were changed while the rest was exported: run it again")
        }
        try writer.write(TransferRecord.end(counts).line())
        try writer.finish()
    }

    /// The numbers of written records by kind, for the operator.
    public var summary: String { TransferRecord.summary(counts) }

    private mutating func writeUsers(to writer: inout LineWriter) async throws(TransferError) {
        var cursor: String?
        repeat {
            let page = try await read { [cursor] () async throws(StoreError) in
                try await store.users(matching: nil, after: cursor, limit: Parts<User>.size)
            }
            let sources = try await sources(of: page.items)
            for user in page.items {
                var members = user.members
                // A user that was deleted meanwhile has no sources; an import must not trust it more for that.
                (sources[user.id] ?? UserSources(of: user, from: .user)).add(to: &members)
                try write(.user, members, to: &writer)
            }
            progress.show(nil, counts[.user] ?? 0, "users")
            cursor = page.nextCursor
        } while cursor != nil
    }

    private func sources(of users: [User]) async throws(TransferError) -> [Identifier<User>: UserSources] {
        let found = try await read { () async throws(StoreError) in try await store.userSources(of: users.map(\.id)) }
        return Dictionary(found.map { ($0.userID, $0) }, uniquingKeysWith: { first, _ in first })
    }

    private mutating func writeLogos(to writer: inout LineWriter) async throws(TransferError) {
        var last: [UInt8]?
        repeat {
            let part = try await read { [store, last] () async throws(StoreError) in
                try await store.read(.short) { (reader) throws(TransactionError) in
                    try reader.logos(after: last, limit: 16).value()
                }
            }
            for logo in part { try write(.logo, logo.members, to: &writer) }
            last = part.last?.digest
        } while last != nil
    }

    private mutating func writeIdentities(to writer: inout LineWriter) async throws(TransferError) {
        var parts = Parts { [store] (last: Identity?) async throws(StoreError) in
            try await store.identities(after: last?.key, limit: Parts<Identity>.size)
        }
        while let part = try await next(of: &parts) {
            for identity in part { try write(.identity, identity.members, to: &writer) }
        }
    }

    private mutating func writePasskeys(to writer: inout LineWriter) async throws(TransferError) {
        var parts = Parts { [store] (last: Passkey?) async throws(StoreError) in
            try await store.passkeys(after: last?.id, limit: Parts<Passkey>.size)
        }
        while let part = try await next(of: &parts) {
            for passkey in part { try write(.passkey, passkey.members, to: &writer) }
        }
    }

    private mutating func writeUserDetails(to writer: inout LineWriter) async throws(TransferError) {
        var parts = Parts { [store] (last: UserDetails?) async throws(StoreError) in
            try await store.userDetails(after: last?.userID, limit: Parts<UserDetails>.size)
        }
        while let part = try await next(of: &parts) {
            for details in part { try write(.userDetails, details.members, to: &writer) }
        }
    }

    /// Writes the recovery codes after the authenticators for which they stand in.
    private mutating func writeSecondFactors(to writer: inout LineWriter) async throws(TransferError) {
        var parts = Parts { [store] (last: TOTPFactor?) async throws(StoreError) in
            try await store.totpFactors(after: last?.id, limit: Parts<TOTPFactor>.size)
        }
        var users: Set<Identifier<User>> = []
        while let part = try await next(of: &parts) {
            for factor in part {
                try write(.totp, factor.members, to: &writer)
                users.insert(factor.userID)
            }
        }
        for user in users {
            let set = try await read { () async throws(StoreError) in try await store.recoveryCodes(of: user) }
            if !set.codes.isEmpty { try write(.recoveryCodes, set.members, to: &writer) }
        }
    }

    private var sessions: Parts<Session> {
        Parts { [store] last async throws(StoreError) in
            try await store.exportSessions(after: last?.id, limit: Parts<Session>.size)
        }
    }

    /// Writes the idle times as the restores of this database have begun them, because no other one knows of them.
    private mutating func writeSessions(_ base: Base, to writer: inout LineWriter) async throws(TransferError) {
        let clients = Dictionary(base.clients.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
        var parts = sessions
        while let part = try await next(of: &parts) {
            for var session in part {
                let lifetimes = Lifetimes(
                    settings: base.settings.sessions, client: clients[session.clientID], user: nil,
                    absoluteMaximum: .seconds(Int64.max), restores: base.settings.restores)
                if session.ending == nil { session.renewedAt = lifetimes.idleStart(of: session) }
                try write(.session, session.members, to: &writer)
                hasProviderChecks = hasProviderChecks || session.ending == nil && session.confirmation != nil
            }
            // Ids are random and sorted, so the first bytes show the completed part.
            let done = part.last.map {
                Double($0.id.bytes.prefix(4).reduce(0) { $0 << 8 | UInt64($1) }) / 4_294_967_296
            }
            progress.show(done ?? 1, counts[.session] ?? 0, "sessions")
        }
    }

    /// Writes these after all sessions, so that a login that comes meanwhile is not there without its session's browser.
    private mutating func writeLogins(to writer: inout LineWriter) async throws(TransferError) {
        var parts = Parts { [store] (last: PageLogin?) async throws(StoreError) in
            try await store.logins(after: last?.id, limit: Parts<PageLogin>.size)
        }
        while let part = try await next(of: &parts) {
            for login in part { try write(.login, login.members, to: &writer) }
            progress.show(nil, counts[.login] ?? 0, "logins")
        }
    }

    /// Writes these after all sessions, because an import asks how the sessions of the logins stand.
    private mutating func writePhoneLogins(to writer: inout LineWriter) async throws(TransferError) {
        var cursor: String?
        repeat {
            let page = try await read { [cursor] () async throws(StoreError) in
                try await store.phoneLogins(
                    ofUser: nil, in: nil, after: cursor.flatMap { SessionCursor($0) },
                    limit: Parts<PhoneLogin>.size)
            }
            for login in page.items where login.isMoved { try write(.phoneLogin, login.members, to: &writer) }
            progress.show(nil, counts[.phoneLogin] ?? 0, "logins with a phone")
            cursor = page.nextCursor
        } while cursor != nil
    }

    /// Writes these after all sessions, because an import needs those first.
    private mutating func writeProviderChecks(to writer: inout LineWriter) async throws(TransferError) {
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

    /// Writes these after all sessions, because an import keeps no PIN without its session.
    private mutating func writePINs(to writer: inout LineWriter) async throws(TransferError) {
        var parts = Parts { [store] (last: PIN?) async throws(StoreError) in
            try await store.pins(after: last?.sessionID, limit: Parts<PIN>.size)
        }
        while let part = try await next(of: &parts) {
            for pin in part { try write(.pin, pin.members, to: &writer) }
            progress.show(nil, counts[.pin] ?? 0, "PINs")
        }
    }

    private mutating func writeForeignTokens(to writer: inout LineWriter) async throws(TransferError) {
        var parts = Parts { [store] (last: ForeignToken?) async throws(StoreError) in
            try await store.foreignTokens(after: last?.digest, limit: Parts<ForeignToken>.size)
        }
        while let part = try await next(of: &parts) {
            for token in part { try write(.foreignToken, ForeignTokenLine.members(token), to: &writer) }
            progress.show(nil, counts[.foreignToken] ?? 0, "foreign tokens")
        }
    }

    private mutating func writeUsedTokens(to writer: inout LineWriter) async throws(TransferError) {
        var parts = Parts { [store, now] (last: OneTimeToken?) async throws(StoreError) in
            try await store.usedTokens(after: last?.digest, at: now, limit: Parts<OneTimeToken>.size)
        }
        while let part = try await next(of: &parts) {
            for token in part { try write(.usedToken, token.members, to: &writer) }
            progress.show(nil, counts[.usedToken] ?? 0, "used tokens")
        }
    }

    /// Writes these after all records with which an import compares them.
    private mutating func writeRevocations(to writer: inout LineWriter) async throws(TransferError) {
        var parts = Parts(ofFeedIn: store, at: now)
        while let part = try await next(of: &parts) {
            for revocation in part { try write(.revocation, revocation.members, to: &writer) }
            progress.show(nil, counts[.revocation] ?? 0, "revocations")
        }
    }

    private mutating func write(
        _ kind: TransferRecord.Kind, _ members: TransferMembers, to writer: inout LineWriter
    ) throws(TransferError) {
        try writer.write(members.line())
        counts[kind, default: 0] += 1
    }

    private func next<Row>(of parts: inout Parts<Row>) async throws(TransferError) -> [Row]? {
        do throws(StoreError) { return try await parts.next() } catch { throw TransferError(error) }
    }

    private func read<Value: Sendable>(
        _ body: () async throws(StoreError) -> Value
    ) async throws(TransferError) -> Value {
        do throws(StoreError) { return try await body() } catch { throw TransferError(error) }
    }
}

extension TransferRecord {
    /// `2 clients, 1000 users, 2500 sessions`: the count of each kind.
    static func summary(_ counts: [Kind: Int64]) -> String {
        let parts = Kind.counted.compactMap { kind -> String? in
            guard let count = counts[kind], count > 0, kind != .settings else { return nil }
            return "\(count) \(count == 1 ? kind.rawValue.replacing("_", with: " ") : kind.plural)"
        }
        return parts.isEmpty ? "nothing" : parts.joined(separator: ", ")
    }
}
