internal import Sessions
internal import StoreFoundation

extension SQLiteRows {
    func mail(_ id: Identifier<QueuedMail>) -> Answer<QueuedMail?> { first(MailRow.select, id, read: MailRow.read) }

    func mails(dead: Bool, after id: Identifier<QueuedMail>?, limit: Int) -> Answer<[QueuedMail]> {
        all(dead ? MailRow.selectDead : MailRow.selectWaiting, id?.bytes ?? [], limit, read: MailRow.read)
    }

    func mailCounts() -> Answer<MailCounts> {
        answer { (connection) throws(DatabaseError) in
            try connection.first(MailRow.counts) { row in
                MailCounts(
                    waiting: Int(row.integer()), dead: Int(row.integer()), oldest: row.optionalInstant())
            } ?? MailCounts(waiting: 0, dead: 0, oldest: nil)
        }
    }

    func insert(_ mail: QueuedMail) -> Answer<Bool> {
        changes(MailRow.insert) { row in MailColumns.write(mail, to: &row) }
    }

    func claimMails(
        in priority: QueuedMail.Priority, dueAt now: Instant, until: Instant, limit: Int
    ) -> Answer<[QueuedMail]> {
        all(priority == .codes ? MailRow.claimCodes : MailRow.claimNotices, until, now, limit, read: MailRow.read)
    }

    func update(_ mail: QueuedMail) {
        perform(MailRow.update, mail.dueAt, mail.tries, mail.reply, mail.id)
    }

    func deleteMail(_ id: Identifier<QueuedMail>) -> Answer<Bool> {
        changes(MailRow.delete, id)
    }

    func deleteMails(of userID: Identifier<User>) {
        perform(MailRow.deleteOfUser, userID)
    }

    func deleteDeadMails(before instant: Instant, limit: Int) -> Answer<Int> {
        count(MailRow.deleteDead, instant, limit)
    }

    func logo(_ digest: [UInt8]) -> Answer<Logo?> {
        first(LogoRow.select, digest) { row in LogoColumns.read(&row) }
    }

    func logos(after digest: [UInt8]?, limit: Int) -> Answer<[Logo]> {
        all(LogoRow.selectPage, digest ?? [], limit) { row in LogoColumns.read(&row) }
    }

    func insert(_ logo: Logo) {
        perform(LogoRow.insert) { row in LogoColumns.write(logo, to: &row) }
    }

    func deleteLogo(_ digest: [UInt8]) {
        perform(LogoRow.delete, digest)
    }
}

/// Every statement about mails.
enum MailRow {
    private static let columns = MailColumns.all.list

    static let select = Query("SELECT \(columns) FROM mails WHERE id = ?")
    static let selectWaiting = Query(
        "SELECT \(columns) FROM mails WHERE id > ? AND due_at IS NOT NULL ORDER BY id LIMIT ?")
    static let selectDead = Query("SELECT \(columns) FROM mails WHERE id > ? AND due_at IS NULL ORDER BY id LIMIT ?")
    static let counts = Query(
        """
        SELECT count(due_at), count(*) - count(due_at), min(CASE WHEN due_at IS NOT NULL THEN created_at END)
        FROM mails
        """)
    static let insert = Query(
        inserting: nil, MailColumns.all, into: "mails", onConflict: "ON CONFLICT DO NOTHING")
    static let claimCodes = claim("IS NOT NULL")
    static let claimNotices = claim("IS NULL")
    static let update = Query("UPDATE mails SET due_at = ?, tries = ?, reply = ? WHERE id = ?")
    static let delete = Query("DELETE FROM mails WHERE id = ?")
    static let deleteOfUser = Query("DELETE FROM mails WHERE user_id = ?")
    static let deleteDead = Query(
        """
        DELETE FROM mails WHERE id IN (
            SELECT id FROM mails WHERE due_at IS NULL AND created_at < ? ORDER BY created_at LIMIT ?)
        """)

    private static func claim(_ priority: String) -> Query {
        Query(
            """
            UPDATE mails SET due_at = ?, tries = tries + 1 WHERE id IN (
                SELECT id FROM mails WHERE due_at <= ? AND verification_id \(priority) ORDER BY due_at LIMIT ?)
            RETURNING \(columns)
            """)
    }

    static func read(_ row: inout Row) throws(CorruptRow) -> QueuedMail { try MailColumns.read(&row) }
}

/// Every statement about logos.
enum LogoRow {
    private static let columns = LogoColumns.all.list

    static let select = Query("SELECT \(columns) FROM logos WHERE digest = ?")
    static let selectPage = Query("SELECT \(columns) FROM logos WHERE digest > ? ORDER BY digest LIMIT ?")
    static let insert = Query(
        inserting: nil, LogoColumns.all, into: "logos", onConflict: "ON CONFLICT DO NOTHING")
    static let delete = Query("DELETE FROM logos WHERE digest = ?")
}
