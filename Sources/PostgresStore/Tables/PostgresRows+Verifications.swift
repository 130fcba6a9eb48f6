internal import Sessions
internal import StoreFoundation

extension PostgresRows {
    func verification(_ id: Identifier<Verification>) -> Answer<Verification?> {
        first(VerificationSQL.select(id), VerificationSQL.read)
    }

    func verificationForUpdate(_ id: Identifier<Verification>) -> Answer<Verification?> {
        firstForUpdate(VerificationSQL.select(id, locked: "FOR UPDATE"), VerificationSQL.read)
    }

    func openVerifications(of userID: Identifier<User>) -> Answer<[Verification]> {
        all(VerificationSQL.selectOpen(of: userID), VerificationSQL.read)
    }

    func openVerificationForUpdate(
        _ purpose: Verification.Purpose, of mailbox: [UInt8], by asker: [UInt8]
    ) -> Answer<Verification?> {
        firstForUpdate(VerificationSQL.selectOpen(purpose, of: mailbox, by: asker), VerificationSQL.read)
    }

    func openVerificationCount(at now: Instant, max: Int) -> Answer<Int> {
        ask([VerificationSQL.countOpen(at: now, max: max)]) { (rows) throws(DatabaseError) in
            try rows[0].first { row in Int(row.integer()) } ?? 0
        }
    }

    func insert(_ verification: Verification) -> Answer<Bool> { changes(VerificationSQL.insert(verification)) }

    func update(_ verification: Verification) { perform(VerificationSQL.update(verification)) }

    func endVerifications(of userID: Identifier<User>, at instant: Instant) {
        perform(VerificationSQL.end(of: userID, at: instant))
    }

    func endVerifications(_ purpose: Verification.Purpose, of mailbox: [UInt8], at instant: Instant) {
        perform(VerificationSQL.end(purpose, of: mailbox, at: instant))
    }

    func deleteVerifications(endedBefore instant: Instant, limit: Int) -> Answer<Int> {
        count(VerificationSQL.deleteOld(endedBefore: instant, limit: limit))
    }

    func mailboxBudget(_ mailbox: [UInt8]) -> Answer<MailboxBudget?> {
        first(MailboxBudgetSQL.select(mailbox)) { row in MailboxBudgetColumns.read(&row) }
    }

    func mailboxBudgetForUpdate(_ mailbox: [UInt8], at now: Instant) -> Answer<MailboxBudget> {
        perform(MailboxBudgetSQL.insert(mailbox, at: now))
        return ask([MailboxBudgetSQL.select(mailbox, locked: "FOR UPDATE")]) { (rows) throws(DatabaseError) in
            try rows[0].first { row in MailboxBudgetColumns.read(&row) } ?? MailboxBudget(mailbox: mailbox, since: now)
        }
    }

    func write(_ budget: MailboxBudget) { perform(MailboxBudgetSQL.replace(budget)) }

    func deleteMailboxBudgets(before since: Instant, refusedBefore refused: Instant, limit: Int) -> Answer<Int> {
        count(MailboxBudgetSQL.deleteOld(before: since, refusedBefore: refused, limit: limit))
    }
}
