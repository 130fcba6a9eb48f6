internal import Sessions
internal import StoreFoundation

extension PostgresRows {
    func mail(_ id: Identifier<QueuedMail>) -> Answer<QueuedMail?> { first(MailSQL.select(id), MailSQL.read) }

    func mails(dead: Bool, after id: Identifier<QueuedMail>?, limit: Int) -> Answer<[QueuedMail]> {
        all(MailSQL.selectPage(dead: dead, after: id, limit: limit), MailSQL.read)
    }

    func mailCounts() -> Answer<MailCounts> {
        ask([MailSQL.counts]) { (rows) throws(DatabaseError) in
            try rows[0].first { row in
                MailCounts(
                    waiting: Int(row.integer()), dead: Int(row.integer()), oldest: row.optionalInstant())
            } ?? MailCounts(waiting: 0, dead: 0, oldest: nil)
        }
    }

    func insert(_ mail: QueuedMail) -> Answer<Bool> { changes(MailSQL.insert(mail)) }

    func claimMails(
        in priority: QueuedMail.Priority, dueAt now: Instant, until: Instant, limit: Int
    ) -> Answer<[QueuedMail]> {
        allForUpdate(MailSQL.claim(priority, dueAt: now, until: until, limit: limit), MailSQL.read)
    }

    func update(_ mail: QueuedMail) { perform(MailSQL.update(mail)) }

    func deleteMail(_ id: Identifier<QueuedMail>) -> Answer<Bool> { changes(MailSQL.delete(id)) }

    func deleteMails(of userID: Identifier<User>) { perform(MailSQL.delete(of: userID)) }

    func deleteDeadMails(before instant: Instant, limit: Int) -> Answer<Int> {
        count(MailSQL.deleteDead(before: instant, limit: limit))
    }

    func logo(_ digest: [UInt8]) -> Answer<Logo?> {
        first(LogoSQL.select(digest)) { row in LogoColumns.read(&row) }
    }

    func logos(after digest: [UInt8]?, limit: Int) -> Answer<[Logo]> {
        all(LogoSQL.selectPage(after: digest, limit: limit)) { row in LogoColumns.read(&row) }
    }

    func insert(_ logo: Logo) { perform(LogoSQL.insert(logo)) }

    func deleteLogo(_ digest: [UInt8]) { perform(LogoSQL.delete(digest)) }
}
