/// The requests about verifications.
public protocol VerificationReader {
    func verification(_ id: Identifier<Verification>) -> Answer<Verification?>

    /// The open verifications of a user, by id.
    func openVerifications(of userID: Identifier<User>) -> Answer<[Verification]>

    /// How many verifications are open of which the link has not ended at `now`; at most `max`.
    func openVerificationCount(at now: Instant, max: Int) -> Answer<Int>

    /// What was sent to a mailbox and guessed for it; nil: nothing lately.
    func mailboxBudget(_ mailbox: [UInt8]) -> Answer<MailboxBudget?>
}

/// The requests and writes about verifications inside a transaction.
public protocol VerificationTransaction: VerificationReader {
    /// The row, which no other transaction changes until this one has ended.
    func verificationForUpdate(_ id: Identifier<Verification>) -> Answer<Verification?>

    /// The open verification of an asker, for update.
    func openVerificationForUpdate(
        _ purpose: Verification.Purpose, of mailbox: [UInt8], by asker: [UInt8]
    ) -> Answer<Verification?>

    /// Adds a verification. False if the asker has an open one; nothing was written.
    func insert(_ verification: Verification) -> Answer<Bool>

    /// Writes the mutable fields of a verification.
    func update(_ verification: Verification)

    /// Ends the open verifications of a user.
    func endVerifications(of userID: Identifier<User>, at instant: Instant)

    /// Ends the open verifications of a mailbox.
    func endVerifications(_ purpose: Verification.Purpose, of mailbox: [UInt8], at instant: Instant)

    /// Deletes at most `limit` verifications of which the link has ended before `instant`. Returns their number.
    func deleteVerifications(endedBefore instant: Instant, limit: Int) -> Answer<Int>

    /// The budget of a mailbox, for update; a new one if there is none.
    func mailboxBudgetForUpdate(_ mailbox: [UInt8], at now: Instant) -> Answer<MailboxBudget>

    /// Writes the budget of a mailbox.
    func write(_ budget: MailboxBudget)

    /// Deletes at most `limit` budgets that have begun before `since`, unless a relay has refused the mailbox after
    /// `refused`. Returns their number.
    func deleteMailboxBudgets(before since: Instant, refusedBefore refused: Instant, limit: Int) -> Answer<Int>
}
