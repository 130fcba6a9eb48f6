/// The requests about mails.
public protocol MailReader {
    func mail(_ id: Identifier<QueuedMail>) -> Answer<QueuedMail?>

    /// The mails of which an attempt follows, or those of which none does, by id.
    func mails(dead: Bool, after id: Identifier<QueuedMail>?, limit: Int) -> Answer<[QueuedMail]>

    /// How many mails there are.
    func mailCounts() -> Answer<MailCounts>
}

/// The requests and writes about mails inside a transaction.
public protocol MailTransaction: MailReader {
    /// Adds a mail. False if a mail of that kind tells the event to that address already; nothing was written.
    func insert(_ mail: QueuedMail) -> Answer<Bool>

    /// Claims mails of a priority that are due at `now` for an attempt that ends before `until`, the oldest first. A mail that another
    /// transaction claims is passed over. The attempt is counted.
    func claimMails(in priority: QueuedMail.Priority, dueAt now: Instant, until: Instant, limit: Int) -> Answer<
        [QueuedMail]
    >

    /// Writes the mutable fields of a mail.
    func update(_ mail: QueuedMail)

    /// Deletes a mail. False if there is none.
    func deleteMail(_ id: Identifier<QueuedMail>) -> Answer<Bool>

    /// Deletes the mails to and about a user.
    func deleteMails(of userID: Identifier<User>)

    /// Deletes at most `limit` mails of which no attempt follows, made before `instant`. Returns their number.
    func deleteDeadMails(before instant: Instant, limit: Int) -> Answer<Int>
}
