public import Sessions
internal import StoreFoundation

/// Every statement about what providers are asked with.
enum ProviderCheckSQL {
    private static let columns = ProviderCheckColumns.all.list

    static func select(_ id: Identifier<Session>, locked: String = "") -> Statement {
        Statement("SELECT \(columns) FROM provider_checks WHERE session_id = $1::uuid \(locked)", id)
    }

    static func selectDue(_ provider: String, by now: Instant, limit: Int, locked: String = "") -> Statement {
        Statement(
            """
            SELECT \(columns) FROM provider_checks WHERE provider = $1::text AND due_at <= $2::bigint
            ORDER BY due_at LIMIT $3::bigint \(locked)
            """, provider, now, limit)
    }

    static func claim(_ ids: ArrayParameter, until end: Instant) -> Statement {
        Statement(
            """
            UPDATE provider_checks SET due_at = $2::bigint, in_doubt = true, revision = revision + 1
            WHERE session_id = ANY ($1::uuid[])
            """, ids, end)
    }

    static func replace(_ check: ProviderCheck) -> Statement {
        Statement(
            """
            INSERT INTO provider_checks (\(columns))
            VALUES ($1::uuid, $2::text, $3::text, $4::text, $5::bytea, $6::boolean, $7::bigint, $8::bigint,
                $9::boolean, $10::bigint)
            ON CONFLICT (session_id) DO UPDATE SET \(ProviderCheckColumns.all.replacements)
            """
        ) { row in ProviderCheckColumns.write(check, to: &row) }
    }

    static func delete(_ id: Identifier<Session>) -> Statement {
        Statement("DELETE FROM provider_checks WHERE session_id = $1::uuid", id)
    }

    /// When the server was started, and which table this is: a restored dump makes it anew.
    static let selectLife = Statement(
        """
        SELECT (extract(epoch FROM pg_postmaster_start_time()) * 1000000)::bigint,
            'provider_checks'::regclass::oid::bigint
        """)

    static func read(_ rows: Rows) throws(DatabaseError) -> [ProviderCheck] {
        try rows.map { (row) throws(CorruptRow) in try ProviderCheckColumns.read(&row) }
    }
}

extension PostgresStore {
    /// See `Store`.
    public func providerCheck(of id: Identifier<Session>) async throws(StoreError) -> ProviderCheck? {
        try await read([ProviderCheckSQL.select(id)]) { (rows) throws(DatabaseError) in
            try ProviderCheckSQL.read(rows[0]).first
        }
    }

    /// See `Store`.
    public func databaseLife() async throws(StoreError) -> String {
        try await read([ProviderCheckSQL.selectLife]) { (rows) throws(DatabaseError) in
            try rows[0].first { row in "\(row.integer()) \(row.integer())" } ?? ""
        }
    }

    /// See `Store`. What another node takes at this moment is left to it.
    public func claimProviderChecks(
        of provider: String, dueBy now: Instant, until end: Instant, limit: Int
    ) async throws(StoreError) -> [ProviderCheck] {
        guard limit > 0 else { return [] }
        let isDue = try await read([ProviderCheckSQL.selectDue(provider, by: now, limit: 1)]) {
            (rows) throws(DatabaseError) in try !ProviderCheckSQL.read(rows[0]).isEmpty
        }
        guard isDue else { return [] }
        return try await change(nil) { (transaction) throws(DatabaseError) in
            var claimed = try ProviderCheckSQL.read(
                try transaction.run(
                    ProviderCheckSQL.selectDue(provider, by: now, limit: limit, locked: "FOR UPDATE SKIP LOCKED")))
            var ids = ArrayParameter(of: .uuid)
            for index in claimed.indices {
                ids.append(claimed[index].sessionID)
                claimed[index].revision += 1
            }
            transaction.add(ProviderCheckSQL.claim(ids, until: end))
            return claimed
        }
    }

    /// See `Store`. The session is locked before its check, as by everybody who ends it.
    public func updateProviderCheck<Outcome: Sendable>(
        _ id: Identifier<Session>, _ change: @escaping @Sendable (inout ProviderCheckChange) -> Outcome
    ) async throws(StoreError) -> Outcome? {
        let clock = options.clock
        return try await self.change(TransactionLock.doors.shared) { (transaction) throws(DatabaseError) in
            let rows = try transaction.run([
                SessionSQL.selectByID(id, locked: "FOR NO KEY UPDATE"),
                ProviderCheckSQL.select(id, locked: "FOR UPDATE"),
                CatalogueCache.revision, CatalogueSQL.selectSettings, CatalogueSQL.selectClients,
            ])
            let check = try ProviderCheckSQL.read(rows[1]).first
            guard let old = try rows[0].first({ (row) throws(CorruptRow) in try SessionColumns.read(&row) }) else {
                if check != nil { transaction.add(ProviderCheckSQL.delete(id)) }
                return nil
            }
            let catalogue = try CatalogueCache.entry(rows[2], rows[3], rows[4]).catalogue
            var edited = ProviderCheckChange(check: check, session: old)
            let outcome = change(&edited)
            let session = edited.session
            if session.ending != old.ending || session.confirmation != old.confirmation {
                transaction.add(SessionSQL.update(id, session.ending, session.confirmation))
            }
            if session.ending != nil { edited.check = nil }
            if let kept = edited.check {
                if kept != check { transaction.add(ProviderCheckSQL.replace(kept)) }
            } else if check != nil {
                transaction.add(ProviderCheckSQL.delete(id))
            }
            for statement in EventSQL.insert(edited.events, catalogue, at: clock.now) { transaction.add(statement) }
            return outcome
        }
    }
}
