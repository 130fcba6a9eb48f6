/// A mail that this node has claimed for one attempt, with what its text is made from.
public struct ClaimedMail: Sendable {
    /// The mail.
    public let mail: QueuedMail
    /// The mailbox to which it is sent.
    public let address: String
    /// The verification of which the mail has code and link.
    public let verification: Verification?
    /// The details of the user that the mail is about.
    public let details: UserDetails?
    /// The app that the mail names, if the server has it.
    public let client: Client?
    /// What settings and app show of the service.
    public let branding: Branding
    fileprivate let mailbox: [UInt8]?
}

/// What came of a claim.
public struct MailClaim: Sendable {
    /// The mails to send now.
    public var mails: [ClaimedMail] = []
    /// The kinds of mails that were deleted or refused instead, each with the reason.
    public var others: [(kind: QueuedMail.Kind, outcome: MailOutcome)] = []

    /// Whether no mail was due.
    public var isEmpty: Bool { mails.isEmpty && others.isEmpty }
}

extension ServiceContext {
    /// Claims at most `limit` mails of a priority for an attempt within `time`. Mails that are not to be sent any more are deleted.
    public func claimMails(
        in priority: QueuedMail.Priority, limit: Int, for time: Duration
    ) async throws(StoreError) -> MailClaim {
        let (now, secrets) = (clock.now, verificationSecrets)
        return try await store.write(.nothing) { (transaction) throws(TransactionError) in
            let due = transaction.claimMails(in: priority, dueAt: now, until: now + time, limit: limit)
            let catalogue = transaction.catalogue()
            let mails = try due.value()
            let asked = mails.map { mail in
                (
                    mail, mail.verificationID.map { transaction.verification($0) },
                    mail.userID.map { transaction.userDetails($0) }
                )
            }
            let (settings, clients) = (try catalogue.value().settings, try catalogue.value().clients)
            let found = try asked.map { (mail, verification, details) throws(TransactionError) -> ClaimedMail? in
                let (verification, details) = (try verification?.value() ?? nil, try details?.value() ?? nil)
                guard let address = mail.email ?? verification?.email else { return nil }
                let mailbox = mail.mailbox(verification, secrets)
                let client = (mail.facts["client"] ?? verification?.clientID).flatMap { clients[$0] }
                return ClaimedMail(
                    mail: mail, address: address, verification: verification, details: details, client: client,
                    branding: (client?.branding ?? Branding()).over(settings.branding), mailbox: mailbox)
            }
            let budgets = found.map { claimed in (claimed?.mailbox).map { transaction.mailboxBudget($0) } }
            var claim = MailClaim()
            for ((mail, claimed), budget) in zip(zip(mails, found), budgets) {
                let budget = try budget?.value() ?? nil
                guard let claimed else {
                    claim.others.append((mail.kind, .obsolete))
                    _ = transaction.deleteMail(mail.id)
                    continue
                }
                let hindrance = MailPolicy.hindrance(of: mail, claimed.verification, budget, at: now)
                switch hindrance {
                case nil: claim.mails.append(claimed)
                case .refused:
                    var mail = mail
                    (mail.dueAt, mail.reply) = (nil, budget?.reply)
                    transaction.update(mail)
                case .expired, .obsolete, .sent, .again, .dead, .held: _ = transaction.deleteMail(mail.id)
                }
                if let hindrance { claim.others.append((mail.kind, hindrance)) }
            }
            return claim
        }
    }

    /// Records what a relay said of a claimed mail. Returns the outcome.
    ///
    /// - Parameter held: when the relay is tried again, if it takes no mail at all.
    public func settle(
        _ claimed: ClaimedMail, _ reply: MailReply, heldUntil held: Instant
    ) async throws(StoreError) -> MailOutcome {
        let now = clock.now
        let (outcome, mail) = MailPolicy.outcome(of: claimed.mail, reply, at: now, heldUntil: held)
        try await store.write(.nothing) { (transaction) throws(TransactionError) in
            if case .mailboxRefused(let text) = reply, let mailbox = claimed.mailbox {
                try transaction.noteRefusal(of: mailbox, text, at: now)
            }
            if let mail { transaction.update(mail) } else { _ = transaction.deleteMail(claimed.mail.id) }
        }
        return outcome
    }
}

extension QueuedMail {
    /// The mailbox to which the mail is sent: that of its own address, which need not be that of its verification.
    func mailbox(_ verification: Verification?, _ secrets: VerificationSecrets) -> [UInt8]? {
        guard let email else { return verification?.mailbox }
        return Text.emailKey(email).map { secrets.mailbox($0) }
    }
}

extension StoreTransaction {
    /// Notes that a relay refuses a mailbox.
    func noteRefusal(of mailbox: [UInt8], _ reply: String, at now: Instant) throws(TransactionError) {
        var budget = try mailboxBudgetForUpdate(mailbox, at: now).value()
        (budget.refusedAt, budget.reply) = (now, reply)
        write(budget)
    }

    /// Forgets that a relay refuses a mailbox.
    func forgetRefusal(of mailbox: [UInt8], at now: Instant) throws(TransactionError) {
        guard try mailboxBudget(mailbox).value()?.refusedAt != nil else { return }
        var budget = try mailboxBudgetForUpdate(mailbox, at: now).value()
        (budget.refusedAt, budget.reply) = (nil, nil)
        write(budget)
    }
}
