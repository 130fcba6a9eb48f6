internal import JSON
public import Sessions

/// A mail as a row.
public enum MailColumns {
    /// The columns, in the order of `read`.
    public static let all = Columns(
        "id", "kind", "user_id", "verification_id", "email", "language", "facts", "event", "created_at", "expires_at",
        "due_at", "tries", "reply")

    /// Reads the columns of a mail.
    public static func read(_ row: inout some StoredRow) throws(CorruptRow) -> QueuedMail {
        let id: Identifier<QueuedMail> = try row.identifier()
        let kind = try row.word(as: QueuedMail.Kind.self)
        let userID: Identifier<User>? = try row.optionalIdentifier()
        let verificationID: Identifier<Verification>? = try row.optionalIdentifier()
        let (email, language, text) = (row.optionalText(), row.text(), row.text())
        guard let facts = try? StrictJSON.object(Array(text.utf8)) else {
            throw CorruptRow("mail \(id) has facts that cannot be read")
        }
        return QueuedMail(
            id: id, kind: kind, userID: userID, verificationID: verificationID, email: email, language: language,
            facts: facts.compactMapValues(\.string), event: row.optional { row in row.integer() },
            createdAt: row.instant(), expiresAt: row.instant(), dueAt: row.optionalInstant(),
            tries: Int(row.integer()), reply: row.optionalText())
    }

    /// Writes all columns of a mail.
    public static func write(_ mail: QueuedMail, to row: inout some WrittenRow) {
        row.add(mail.id)
        row.add(mail.kind)
        row.add(mail.userID)
        row.add(mail.verificationID)
        row.add(mail.email)
        row.add(mail.language)
        // Texts can always be encoded.
        row.add(JSONText.compact(mail.facts).map { String(decoding: $0, as: UTF8.self) } ?? "{}")
        row.add(mail.event)
        row.add(mail.createdAt)
        row.add(mail.expiresAt)
        row.add(mail.dueAt)
        row.add(Int64(mail.tries))
        row.add(mail.reply)
    }
}

/// A picture as a row.
public enum LogoColumns {
    /// The columns, in the order of `read`.
    public static let all = Columns("digest", "type", "bytes")

    /// Reads the columns of a picture.
    public static func read(_ row: inout some StoredRow) -> Logo {
        Logo(digest: row.bytes(), type: row.text(), bytes: row.bytes())
    }

    /// Writes all columns of a picture.
    public static func write(_ logo: Logo, to row: inout some WrittenRow) {
        row.add(logo.digest)
        row.add(logo.type)
        row.add(logo.bytes)
    }
}
