/// The mails of which the console tells.
public struct MailsOverview: Sendable {
    /// How many there are.
    public let counts: MailCounts
    /// Some that wait for a further attempt, or for the first.
    public let waiting: [QueuedMail]
    /// Some of which no attempt follows.
    public let dead: [QueuedMail]

    /// How many of each are shown at most.
    public static let shownMax = 20
}

extension StoreReader {
    /// The mails of which the console tells.
    func mailsOverview() -> Answer<MailsOverview> {
        let counts = mailCounts()
        let waiting = mails(dead: false, after: nil, limit: MailsOverview.shownMax)
        let dead = mails(dead: true, after: nil, limit: MailsOverview.shownMax)
        return Answer { () throws(TransactionError) in
            MailsOverview(
                counts: try counts.value(), waiting: try waiting.value(), dead: try dead.value())
        }
    }
}

extension Administration {
    /// The mails that wait, or those of which no attempt follows, by id.
    public func mails(
        dead: Bool, after cursor: Identifier<QueuedMail>?, limit: Int
    ) async throws(ServiceError) -> Page<QueuedMail> {
        let mails = try await inStore(
            await store.read(.page) { (reader) throws(TransactionError) in
                try reader.mails(dead: dead, after: cursor, limit: Page<QueuedMail>.rows(for: limit)).value()
            })
        return Page(mails, limit: limit) { $0.id.description }
    }

    /// How many mails wait, and of how many no attempt follows.
    public func mailCounts() async throws(ServiceError) -> MailCounts {
        try await inStore(
            await store.read(.page) { (reader) throws(TransactionError) in try reader.mailCounts().value() })
    }

    /// Lets a mail be tried now, and its mailbox be written to again if a relay has refused it.
    public func retryMail(_ id: Identifier<QueuedMail>) async throws(ServiceError) {
        let (now, waker, secrets) = (context.clock.now, context.mails, context.verificationSecrets)
        let isExpired: Bool? = try await inStore(
            await store.write(.nothing) { (transaction) throws(TransactionError) -> Bool? in
                guard var mail = try transaction.mail(id).value() else { return nil }
                guard now < mail.expiresAt else { return true }
                let verification = try mail.verificationID.map { transaction.verification($0) }?.value() ?? nil
                // The budget is locked before the mail, as where a refusal is noted.
                if let mailbox = mail.mailbox(verification, secrets) {
                    try transaction.forgetRefusal(of: mailbox, at: now)
                }
                (mail.dueAt, mail.tries) = (now, 0)
                transaction.update(mail)
                return false
            })
        guard let isExpired else { throw .notFound("mail") }
        guard !isExpired else {
            throw .conflict(code: "mail_expired", detail: "The time in which the mail was of use is over.")
        }
        waker?.wake()
    }

    /// Notes that a mailbox refuses mails, as a relay has reported later.
    public func noteRefusal(of address: String, _ reply: String) async throws(ServiceError) {
        guard Mailbox.isValid(address), let key = Text.emailKey(address) else {
            throw .invalid(member: "email", detail: "must be an e-mail address in ASCII")
        }
        let (now, mailbox) = (context.clock.now, context.verificationSecrets.mailbox(key))
        try await inStore(
            await store.write(.nothing) { (transaction) throws(TransactionError) in
                try transaction.noteRefusal(of: mailbox, reply, at: now)
            })
    }
}
