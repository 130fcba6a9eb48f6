internal import Sessions
internal import StoreFoundation

/// Every statement about verifications.
enum VerificationSQL {
    private static let columns = VerificationColumns.all.list

    static func select(_ id: Identifier<Verification>, locked: String = "") -> Statement {
        Statement("SELECT \(columns) FROM verifications WHERE id = $1::uuid \(locked)", id)
    }

    static func selectOpen(of userID: Identifier<User>) -> Statement {
        Statement(
            "SELECT \(columns) FROM verifications WHERE user_id = $1::uuid AND ended_at IS NULL ORDER BY id", userID)
    }

    static func selectOpen(_ purpose: Verification.Purpose, of mailbox: [UInt8], by asker: [UInt8]) -> Statement {
        Statement(
            """
            SELECT \(columns) FROM verifications
            WHERE mailbox = $1::bytea AND purpose = $2::text AND asker = $3::bytea AND ended_at IS NULL FOR UPDATE
            """, mailbox, purpose.rawValue, asker)
    }

    static func countOpen(at now: Instant, max: Int) -> Statement {
        Statement(
            """
            SELECT count(*) FROM (
                SELECT 1 FROM verifications WHERE ended_at IS NULL AND link_until > $1::bigint LIMIT $2::bigint) AS open
            """, now, max)
    }

    /// Changes no row when the asker has an open verification.
    static func insert(_ verification: Verification) -> Statement {
        Statement(
            """
            INSERT INTO verifications (\(columns)) VALUES (\(VerificationColumns.all.placeholders()))
            ON CONFLICT DO NOTHING
            """
        ) { row in VerificationColumns.write(verification, to: &row) }
    }

    static func update(_ verification: Verification) -> Statement {
        Statement(
            """
            UPDATE verifications SET code_until = $1::bigint, link_until = $2::bigint, mails = $3::bigint,
                mailed_at = $4::bigint, wrong_codes = $5::bigint, proven_at = $6::bigint, ended_at = $7::bigint
            WHERE id = $8::uuid
            """, verification.codeUntil, verification.linkUntil, verification.mails, verification.mailedAt,
            verification.wrongCodes, verification.provenAt, verification.endedAt, verification.id)
    }

    static func end(of userID: Identifier<User>, at instant: Instant) -> Statement {
        Statement(
            "UPDATE verifications SET ended_at = $1::bigint WHERE user_id = $2::uuid AND ended_at IS NULL", instant,
            userID)
    }

    static func end(_ purpose: Verification.Purpose, of mailbox: [UInt8], at instant: Instant) -> Statement {
        Statement(
            """
            UPDATE verifications SET ended_at = $1::bigint
            WHERE mailbox = $2::bytea AND purpose = $3::text AND ended_at IS NULL
            """, instant, mailbox, purpose.rawValue)
    }

    static func deleteOld(endedBefore instant: Instant, limit: Int) -> Statement {
        Statement(
            """
            DELETE FROM verifications WHERE id IN (
                SELECT id FROM verifications WHERE link_until < $1::bigint ORDER BY link_until LIMIT $2::bigint)
            """, instant, limit)
    }

    static func read(_ row: inout Row) throws(CorruptRow) -> Verification { try VerificationColumns.read(&row) }
}

/// Every statement about the budgets of mailboxes.
enum MailboxBudgetSQL {
    private static let columns = MailboxBudgetColumns.all.list

    static func select(_ mailbox: [UInt8], locked: String = "") -> Statement {
        Statement("SELECT \(columns) FROM mailboxes WHERE mailbox = $1::bytea \(locked)", mailbox)
    }

    /// Adds an empty budget unless there is one, so that there is a row to lock.
    static func insert(_ mailbox: [UInt8], at now: Instant) -> Statement {
        Statement(
            """
            INSERT INTO mailboxes (mailbox, since, mails, wrong_codes) VALUES ($1::bytea, $2::bigint, 0, 0)
            ON CONFLICT (mailbox) DO NOTHING
            """, mailbox, now)
    }

    static func replace(_ budget: MailboxBudget) -> Statement {
        Statement(
            """
            INSERT INTO mailboxes (\(columns)) VALUES (\(MailboxBudgetColumns.all.placeholders()))
            ON CONFLICT (mailbox) DO UPDATE SET \(MailboxBudgetColumns.all.replacements)
            """
        ) { row in MailboxBudgetColumns.write(budget, to: &row) }
    }

    static func deleteOld(before since: Instant, refusedBefore refused: Instant, limit: Int) -> Statement {
        Statement(
            """
            DELETE FROM mailboxes WHERE mailbox IN (
                SELECT mailbox FROM mailboxes
                WHERE since < $1::bigint AND (refused_at IS NULL OR refused_at < $2::bigint)
                ORDER BY since LIMIT $3::bigint)
            """, since, refused, limit)
    }
}
