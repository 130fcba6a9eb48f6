internal import Sessions
internal import StoreFoundation

extension SQLiteRows {
    func verification(_ id: Identifier<Verification>) -> Answer<Verification?> {
        first(VerificationRow.select, id, read: VerificationRow.read)
    }

    func verificationForUpdate(_ id: Identifier<Verification>) -> Answer<Verification?> { verification(id) }

    func openVerifications(of userID: Identifier<User>) -> Answer<[Verification]> {
        all(VerificationRow.selectOfUser, userID, read: VerificationRow.read)
    }

    func openVerificationForUpdate(
        _ purpose: Verification.Purpose, of mailbox: [UInt8], by asker: [UInt8]
    ) -> Answer<Verification?> {
        first(VerificationRow.selectOpen, mailbox, purpose.rawValue, asker, read: VerificationRow.read)
    }

    func openVerificationCount(at now: Instant, max: Int) -> Answer<Int> {
        answer { (connection) throws(DatabaseError) in
            try connection.first(VerificationRow.countOpen, now, max) { row in Int(row.integer()) } ?? 0
        }
    }

    func insert(_ verification: Verification) -> Answer<Bool> {
        changes(VerificationRow.insert) { row in
            VerificationColumns.write(verification, to: &row)
        }
    }

    func update(_ verification: Verification) {
        perform(
            VerificationRow.update, verification.codeUntil, verification.linkUntil, verification.mails,
            verification.mailedAt, verification.wrongCodes, verification.provenAt, verification.endedAt,
            verification.id)
    }

    func endVerifications(of userID: Identifier<User>, at instant: Instant) {
        perform(VerificationRow.endOfUser, instant, userID)
    }

    func endVerifications(_ purpose: Verification.Purpose, of mailbox: [UInt8], at instant: Instant) {
        perform(VerificationRow.endOfMailbox, instant, mailbox, purpose.rawValue)
    }

    func deleteVerifications(endedBefore instant: Instant, limit: Int) -> Answer<Int> {
        count(VerificationRow.deleteOld, instant, limit)
    }

    func mailboxBudget(_ mailbox: [UInt8]) -> Answer<MailboxBudget?> {
        first(MailboxBudgetRow.select, mailbox) { row in MailboxBudgetColumns.read(&row) }
    }

    func mailboxBudgetForUpdate(_ mailbox: [UInt8], at now: Instant) -> Answer<MailboxBudget> {
        answer { (connection) throws(DatabaseError) in
            try connection.first(MailboxBudgetRow.select, mailbox) { row in MailboxBudgetColumns.read(&row) }
                ?? MailboxBudget(mailbox: mailbox, since: now)
        }
    }

    func write(_ budget: MailboxBudget) {
        perform(MailboxBudgetRow.replace) { row in MailboxBudgetColumns.write(budget, to: &row) }
    }

    func deleteMailboxBudgets(before since: Instant, refusedBefore refused: Instant, limit: Int) -> Answer<Int> {
        count(MailboxBudgetRow.deleteOld, since, refused, limit)
    }
}

/// Every statement about verifications.
enum VerificationRow {
    private static let columns = VerificationColumns.all.list

    static let select = Query("SELECT \(columns) FROM verifications WHERE id = ?")
    static let selectOfUser = Query(
        "SELECT \(columns) FROM verifications WHERE user_id = ? AND ended_at IS NULL ORDER BY id")
    static let selectOpen = Query(
        """
        SELECT \(columns) FROM verifications WHERE mailbox = ? AND purpose = ? AND asker = ? AND ended_at IS NULL
        """)
    static let countOpen = Query(
        """
        SELECT count(*) FROM (
            SELECT 1 FROM verifications WHERE ended_at IS NULL AND link_until > ? LIMIT ?)
        """)
    static let insert = Query(
        inserting: nil, VerificationColumns.all, into: "verifications", onConflict: "ON CONFLICT DO NOTHING")
    static let update = Query(
        """
        UPDATE verifications SET code_until = ?, link_until = ?, mails = ?, mailed_at = ?, wrong_codes = ?,
            proven_at = ?, ended_at = ? WHERE id = ?
        """)
    static let endOfUser = Query("UPDATE verifications SET ended_at = ? WHERE user_id = ? AND ended_at IS NULL")
    static let endOfMailbox = Query(
        "UPDATE verifications SET ended_at = ? WHERE mailbox = ? AND purpose = ? AND ended_at IS NULL")
    static let deleteOld = Query(
        """
        DELETE FROM verifications WHERE id IN (
            SELECT id FROM verifications WHERE link_until < ? ORDER BY link_until LIMIT ?)
        """)

    static func read(_ row: inout Row) throws(CorruptRow) -> Verification { try VerificationColumns.read(&row) }
}

/// Every statement about the budgets of mailboxes.
enum MailboxBudgetRow {
    static let select = Query("SELECT \(MailboxBudgetColumns.all.list) FROM mailboxes WHERE mailbox = ?")
    static let replace = Query(replacing: nil, MailboxBudgetColumns.all, in: "mailboxes")
    static let deleteOld = Query(
        """
        DELETE FROM mailboxes WHERE mailbox IN (
            SELECT mailbox FROM mailboxes WHERE since < ? AND (refused_at IS NULL OR refused_at < ?)
            ORDER BY since LIMIT ?)
        """)
}
