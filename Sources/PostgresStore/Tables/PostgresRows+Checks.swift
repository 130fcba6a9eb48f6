internal import Sessions
internal import StoreFoundation

extension PostgresRows {
    func providerCheck(of id: Identifier<Session>) -> Answer<ProviderCheck?> {
        first(ProviderCheckSQL.select(id), ProviderCheckSQL.read)
    }

    func providerCheckForUpdate(of id: Identifier<Session>) -> Answer<ProviderCheck?> {
        firstForUpdate(ProviderCheckSQL.select(id, locked: "FOR UPDATE"), ProviderCheckSQL.read)
    }

    func hasDueProviderCheck(of provider: String, by now: Instant) -> Answer<Bool> {
        ask([ProviderCheckSQL.selectDue(provider, by: now, limit: 1)]) { rows in rows[0].count > 0 }
    }

    /// Skips rows that another node has locked at this moment.
    func dueProviderChecksForUpdate(of provider: String, by now: Instant, limit: Int) -> Answer<[ProviderCheck]> {
        allForUpdate(
            ProviderCheckSQL.selectDue(provider, by: now, limit: limit, locked: "FOR UPDATE SKIP LOCKED"),
            ProviderCheckSQL.read)
    }

    func claimProviderChecks(of sessions: [Identifier<Session>], until end: Instant) {
        perform(ProviderCheckSQL.claim(ArrayParameter(sessions), until: end))
    }

    func replace(_ check: ProviderCheck) { perform(ProviderCheckSQL.replace(check)) }

    func deleteProviderCheck(of id: Identifier<Session>) { perform(ProviderCheckSQL.delete(id)) }

    func foreignToken(_ digest: [UInt8]) -> Answer<ForeignToken?> {
        first(ForeignTokenSQL.select(digest), ForeignTokenSQL.read)
    }

    func foreignTokenForUpdate(_ digest: [UInt8]) -> Answer<ForeignToken?> {
        firstForUpdate(ForeignTokenSQL.select(digest, locked: "FOR UPDATE"), ForeignTokenSQL.read)
    }

    func hasWaitingForeignToken(of userID: Identifier<User>) -> Answer<Bool> {
        ask([ForeignTokenSQL.selectWaiting(of: userID)]) { rows in rows[0].count > 0 }
    }

    func foreignTokens(after digest: [UInt8]?, limit: Int) -> Answer<[ForeignToken]> {
        all(ForeignTokenSQL.selectPage(after: digest, limit: limit), ForeignTokenSQL.read)
    }

    func foreignTokens(endedBy end: Instant, startedBy start: Instant, limit: Int) -> Answer<[ForeignToken]> {
        all(ForeignTokenSQL.selectOld(endedBy: end, startedBy: start, limit: limit), ForeignTokenSQL.read)
    }

    func insert(_ token: ForeignToken, replacing: Bool) -> Answer<Bool> {
        changes(ForeignTokenSQL.insert(token, replacing: replacing))
    }

    func updateForeignToken(_ digest: [UInt8], _ exchange: ForeignToken.Exchange?) {
        perform(ForeignTokenSQL.update(digest, exchange))
    }

    func deleteForeignToken(_ digest: [UInt8]) { perform(ForeignTokenSQL.delete(digest)) }

    func deleteForeignTokens(of userID: Identifier<User>, _ ending: UserChange.EndingSessions) {
        perform(ForeignTokenSQL.deleteWaiting(ending, of: userID))
    }

    func isUsed(_ token: OneTimeToken) -> Answer<Bool> {
        ask([UsedTokenSQL.select(token)]) { rows in rows[0].count > 0 }
    }

    func usedTokens(after digest: [UInt8]?, at now: Instant, limit: Int) -> Answer<[OneTimeToken]> {
        all(UsedTokenSQL.selectPage(after: digest ?? [], at: now, limit: limit)) { row in
            OneTimeToken(digest: row.bytes(), goodUntil: row.instant(), at: now)
        }
    }

    func insert(_ token: OneTimeToken) -> Answer<Bool> { changes(UsedTokenSQL.insert(token)) }

    func deleteUsedTokens(before instant: Instant, limit: Int) -> Answer<Int> {
        count(UsedTokenSQL.deleteOld(before: instant, limit: limit))
    }

    func failedAttempts(at target: LockoutTarget) -> Answer<FailedAttempts?> {
        first(FailedAttemptSQL.select(target)) { row in FailedAttemptColumns.read(&row) }
    }

    /// Locks the row, or inserts one with the count 0, so that of two nodes with a first attempt one waits.
    func failedAttemptsForUpdate(at target: LockoutTarget) -> Answer<FailedAttempts?> {
        ask([FailedAttemptSQL.take(target)]) { (rows) throws(DatabaseError) in
            let taken = try rows[0].first { row in FailedAttemptColumns.read(&row) }
            return taken?.count == 0 ? nil : taken
        }
    }

    func replace(_ attempts: FailedAttempts, at target: LockoutTarget) {
        perform(FailedAttemptSQL.update(attempts, of: target))
    }

    func deleteFailedAttempts(at target: LockoutTarget) { perform(FailedAttemptSQL.delete(target)) }

    func deleteFailedAttempts(of userID: Identifier<User>) { perform(FailedAttemptSQL.delete(of: userID)) }

    func deleteFailedAttempts(before instant: Instant, limit: Int) -> Answer<Int> {
        count(FailedAttemptSQL.deleteOld(before: instant, limit: limit))
    }
}
