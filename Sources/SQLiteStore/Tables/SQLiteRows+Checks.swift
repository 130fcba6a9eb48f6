internal import Sessions
internal import StoreFoundation

extension SQLiteRows {
    func providerCheck(of id: Identifier<Session>) -> Answer<ProviderCheck?> {
        first(ProviderCheckRow.select, id, read: ProviderCheckRow.read)
    }

    func providerCheckForUpdate(of id: Identifier<Session>) -> Answer<ProviderCheck?> { providerCheck(of: id) }

    func hasDueProviderCheck(of provider: String, by now: Instant) -> Answer<Bool> {
        answer { (connection) throws(DatabaseError) in
            try connection.first(ProviderCheckRow.selectDue, provider, now, 1, read: ProviderCheckRow.read) != nil
        }
    }

    func dueProviderChecksForUpdate(of provider: String, by now: Instant, limit: Int) -> Answer<[ProviderCheck]> {
        all(ProviderCheckRow.selectDue, provider, now, limit, read: ProviderCheckRow.read)
    }

    func claimProviderChecks(of sessions: [Identifier<Session>], until end: Instant) {
        perform { (connection) throws(DatabaseError) in
            for id in sessions { try connection.execute(ProviderCheckRow.claim, end, id) }
        }
    }

    func replace(_ check: ProviderCheck) {
        perform(ProviderCheckRow.replace) { row in ProviderCheckColumns.write(check, to: &row) }
    }

    func deleteProviderCheck(of id: Identifier<Session>) {
        perform(ProviderCheckRow.delete, id)
    }

    func foreignToken(_ digest: [UInt8]) -> Answer<ForeignToken?> {
        first(ForeignTokenRow.select, digest, read: ForeignTokenRow.read)
    }

    func foreignTokenForUpdate(_ digest: [UInt8]) -> Answer<ForeignToken?> { foreignToken(digest) }

    func foreignTokens(after digest: [UInt8]?, limit: Int) -> Answer<[ForeignToken]> {
        all(ForeignTokenRow.selectPage, digest ?? [], limit, read: ForeignTokenRow.read)
    }

    func foreignTokens(endedBy end: Instant, startedBy start: Instant, limit: Int) -> Answer<[ForeignToken]> {
        all(ForeignTokenRow.selectOld, end, start, limit, read: ForeignTokenRow.read)
    }

    func hasWaitingForeignToken(of userID: Identifier<User>) -> Answer<Bool> {
        answer { (connection) throws(DatabaseError) in
            try connection.first(ForeignTokenRow.selectWaiting, userID) { row in row.integer() } != nil
        }
    }

    func insert(_ token: ForeignToken, replacing: Bool) -> Answer<Bool> {
        answer { (connection) throws(DatabaseError) in
            try connection.execute(replacing ? ForeignTokenRow.replace : ForeignTokenRow.insert) { row in
                ForeignTokenColumns.write(token, to: &row)
            } > 0
        }
    }

    func updateForeignToken(_ digest: [UInt8], _ exchange: ForeignToken.Exchange?) {
        perform(ForeignTokenRow.updateExchange, exchange?.sessionID, exchange?.at, digest)
    }

    func deleteForeignToken(_ digest: [UInt8]) {
        perform(ForeignTokenRow.delete, digest)
    }

    func deleteForeignTokens(of userID: Identifier<User>, _ ending: UserChange.EndingSessions) {
        perform(ForeignTokenRow.deleteWaiting, userID, ending.clientID, ending.deviceID)
    }

    func isUsed(_ token: OneTimeToken) -> Answer<Bool> {
        answer { (connection) throws(DatabaseError) in
            try connection.first(UsedTokenRow.select, token.digest, token.at) { row in row.integer() } != nil
        }
    }

    func usedTokens(after digest: [UInt8]?, at now: Instant, limit: Int) -> Answer<[OneTimeToken]> {
        answer { (connection) throws(DatabaseError) in
            try connection.all(UsedTokenRow.selectPage, digest ?? [], now, limit) { row in
                OneTimeToken(digest: row.bytes(), goodUntil: row.instant(), at: now)
            }
        }
    }

    func insert(_ token: OneTimeToken) -> Answer<Bool> {
        changes(UsedTokenRow.insert, token.digest, token.goodUntil, token.at)
    }

    func deleteUsedTokens(before instant: Instant, limit: Int) -> Answer<Int> {
        count(UsedTokenRow.deleteOld, instant, limit)
    }

    func failedAttempts(at target: LockoutTarget) -> Answer<FailedAttempts?> {
        answer { (connection) throws(DatabaseError) in
            try connection.first(FailedAttemptRow.select, target.digest) { row in FailedAttemptColumns.read(&row) }
        }
    }

    func failedAttemptsForUpdate(at target: LockoutTarget) -> Answer<FailedAttempts?> { failedAttempts(at: target) }

    func replace(_ attempts: FailedAttempts, at target: LockoutTarget) {
        perform(
            FailedAttemptRow.replace, target.digest, target.userID, attempts.count, attempts.lastAt)
    }

    func deleteFailedAttempts(at target: LockoutTarget) {
        perform(FailedAttemptRow.delete, target.digest)
    }

    func deleteFailedAttempts(of userID: Identifier<User>) {
        perform(FailedAttemptRow.deleteOfUser, userID)
    }

    func deleteFailedAttempts(before instant: Instant, limit: Int) -> Answer<Int> {
        count(FailedAttemptRow.deleteOld, instant, limit)
    }
}
