internal import Sessions
internal import StoreFoundation

/// Every statement about mails.
enum MailSQL {
    private static let columns = MailColumns.all.list

    static func select(_ id: Identifier<QueuedMail>) -> Statement {
        Statement("SELECT \(columns) FROM mails WHERE id = $1::uuid", id)
    }

    static func selectPage(dead: Bool, after cursor: Identifier<QueuedMail>?, limit: Int) -> Statement {
        Statement(
            """
            SELECT \(columns) FROM mails
            WHERE ($1::uuid IS NULL OR id > $1::uuid) AND due_at IS \(dead ? "" : "NOT") NULL
            ORDER BY id LIMIT $2::bigint
            """, cursor, limit)
    }

    static let counts = Statement(
        """
        SELECT count(due_at), count(*) - count(due_at), min(CASE WHEN due_at IS NOT NULL THEN created_at END)
        FROM mails
        """)

    /// Changes no row when a mail of that kind tells the event to that address.
    static func insert(_ mail: QueuedMail) -> Statement {
        Statement(
            "INSERT INTO mails (\(columns)) VALUES (\(MailColumns.all.placeholders())) ON CONFLICT DO NOTHING"
        ) { row in MailColumns.write(mail, to: &row) }
    }

    /// Passes over the mails that another transaction claims.
    static func claim(_ priority: QueuedMail.Priority, dueAt now: Instant, until: Instant, limit: Int) -> Statement {
        Statement(
            """
            UPDATE mails SET due_at = $1::bigint, tries = tries + 1 WHERE id IN (
                SELECT id FROM mails
                WHERE due_at <= $2::bigint AND verification_id IS \(priority == .codes ? "NOT" : "") NULL
                ORDER BY due_at LIMIT $3::bigint FOR UPDATE SKIP LOCKED)
            RETURNING \(columns)
            """, until, now, limit)
    }

    static func update(_ mail: QueuedMail) -> Statement {
        Statement(
            "UPDATE mails SET due_at = $1::bigint, tries = $2::bigint, reply = $3::text WHERE id = $4::uuid",
            mail.dueAt, mail.tries, mail.reply, mail.id)
    }

    static func delete(_ id: Identifier<QueuedMail>) -> Statement {
        Statement("DELETE FROM mails WHERE id = $1::uuid", id)
    }

    static func delete(of userID: Identifier<User>) -> Statement {
        Statement("DELETE FROM mails WHERE user_id = $1::uuid", userID)
    }

    static func deleteDead(before instant: Instant, limit: Int) -> Statement {
        Statement(
            """
            DELETE FROM mails WHERE id IN (
                SELECT id FROM mails WHERE due_at IS NULL AND created_at < $1::bigint
                ORDER BY created_at LIMIT $2::bigint)
            """, instant, limit)
    }

    static func read(_ row: inout Row) throws(CorruptRow) -> QueuedMail { try MailColumns.read(&row) }
}

/// Every statement about logos.
enum LogoSQL {
    private static let columns = LogoColumns.all.list

    static func select(_ digest: [UInt8]) -> Statement {
        Statement("SELECT \(columns) FROM logos WHERE digest = $1::bytea", digest)
    }

    static func selectPage(after cursor: [UInt8]?, limit: Int) -> Statement {
        Statement(
            "SELECT \(columns) FROM logos WHERE digest > $1::bytea ORDER BY digest LIMIT $2::bigint", cursor ?? [],
            limit)
    }

    static func insert(_ logo: Logo) -> Statement {
        Statement(
            """
            INSERT INTO logos (\(columns)) VALUES (\(LogoColumns.all.placeholders())) ON CONFLICT (digest) DO NOTHING
            """
        ) { row in LogoColumns.write(logo, to: &row) }
    }

    static func delete(_ digest: [UInt8]) -> Statement {
        Statement("DELETE FROM logos WHERE digest = $1::bytea", digest)
    }
}
