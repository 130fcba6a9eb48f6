public import Sessions

/// A verification as a row.
public enum VerificationColumns {
    /// The columns, in the order of `read`.
    public static let all = Columns(
        "id", "purpose", "mailbox", "email", "user_id", "client_id", "asker", "session_id", "language", "key_id",
        "created_at", "code_until", "link_until", "mails", "mailed_at", "wrong_codes", "proven_at", "ended_at")

    /// Reads the columns of a verification.
    public static func read(_ row: inout some StoredRow) throws(CorruptRow) -> Verification {
        let id: Identifier<Verification> = try row.identifier()
        let purpose = try row.word(as: Verification.Purpose.self)
        let (mailbox, email) = (row.bytes(), row.optionalText())
        let userID: Identifier<User>? = try row.optionalIdentifier()
        let clientID = row.optionalText()
        let asker = row.optional { row in row.bytes() }
        let sessionID: Identifier<Session>? = try row.optionalIdentifier()
        let language = row.text()
        guard let keyID = UInt8(exactly: row.integer()) else { throw CorruptRow("a verification has no root key") }
        return Verification(
            id: id, purpose: purpose, mailbox: mailbox, email: email, userID: userID, clientID: clientID, asker: asker,
            sessionID: sessionID, language: language, keyID: keyID, createdAt: row.instant(), codeUntil: row.instant(),
            linkUntil: row.instant(), mails: Int(row.integer()), mailedAt: row.optionalInstant(),
            wrongCodes: Int(row.integer()), provenAt: row.optionalInstant(), endedAt: row.optionalInstant())
    }

    /// Writes all columns of a verification.
    public static func write(_ verification: Verification, to row: inout some WrittenRow) {
        row.add(verification.id)
        row.add(verification.purpose)
        row.add(verification.mailbox)
        row.add(verification.email)
        row.add(verification.userID)
        row.add(verification.clientID)
        row.add(verification.asker)
        row.add(verification.sessionID)
        row.add(verification.language)
        row.add(Int64(verification.keyID))
        row.add(verification.createdAt)
        row.add(verification.codeUntil)
        row.add(verification.linkUntil)
        row.add(Int64(verification.mails))
        row.add(verification.mailedAt)
        row.add(Int64(verification.wrongCodes))
        row.add(verification.provenAt)
        row.add(verification.endedAt)
    }
}

/// The budget of a mailbox as a row.
public enum MailboxBudgetColumns {
    /// The columns, in the order of `read`.
    public static let all = Columns("mailbox", "since", "mails", "wrong_codes", "refused_at", "reply")

    /// Reads the columns of a budget.
    public static func read(_ row: inout some StoredRow) -> MailboxBudget {
        MailboxBudget(
            mailbox: row.bytes(), since: row.instant(), mails: Int(row.integer()), wrongCodes: Int(row.integer()),
            refusedAt: row.optionalInstant(), reply: row.optionalText())
    }

    /// Writes all columns of a budget.
    public static func write(_ budget: MailboxBudget, to row: inout some WrittenRow) {
        row.add(budget.mailbox)
        row.add(budget.since)
        row.add(Int64(budget.mails))
        row.add(Int64(budget.wrongCodes))
        row.add(budget.refusedAt)
        row.add(budget.reply)
    }
}
