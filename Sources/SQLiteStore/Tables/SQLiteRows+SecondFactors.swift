internal import Sessions
internal import StoreFoundation

extension SQLiteRows {
    func userDetails(_ userID: Identifier<User>) -> Answer<UserDetails?> {
        first(UserDetailsRow.select, userID, read: UserDetailsRow.read)
    }

    func userDetails(after userID: Identifier<User>?, limit: Int) -> Answer<[UserDetails]> {
        all(UserDetailsRow.selectPage, userID?.bytes ?? [], limit, read: UserDetailsRow.read)
    }

    func usersToDelete(at instant: Instant, limit: Int) -> Answer<[Identifier<User>]> {
        all(UserDetailsRow.selectDeleting, instant, limit) { (row) throws(CorruptRow) in try row.identifier() }
    }

    func userDetailsForUpdate(_ userID: Identifier<User>) -> Answer<UserDetails> {
        answer { (connection) throws(DatabaseError) in
            try connection.first(UserDetailsRow.select, userID, read: UserDetailsRow.read)
                ?? UserDetails(userID: userID)
        }
    }

    func write(_ details: UserDetails) {
        perform { (connection) throws(DatabaseError) in
            if details.isEmpty {
                try connection.execute(UserDetailsRow.delete, details.userID)
            } else {
                try connection.execute(UserDetailsRow.replace) { row in UserDetailsColumns.write(details, to: &row) }
            }
        }
    }

    func totpFactors(of userID: Identifier<User>) -> Answer<[TOTPFactor]> {
        all(TOTPFactorRow.selectOfUser, userID, read: TOTPFactorRow.read)
    }

    func totpFactorsForUpdate(of userID: Identifier<User>) -> Answer<[TOTPFactor]> { totpFactors(of: userID) }

    func totpFactors(after id: Identifier<TOTPFactor>?, limit: Int) -> Answer<[TOTPFactor]> {
        all(TOTPFactorRow.selectPage, id?.bytes ?? [], limit, read: TOTPFactorRow.read)
    }

    func insert(_ factor: TOTPFactor) {
        perform(TOTPFactorRow.insert) { row in TOTPFactorColumns.write(factor, to: &row) }
    }

    func update(_ factor: TOTPFactor) {
        perform(
            TOTPFactorRow.update, factor.name, factor.sealedSeed, factor.lastStep, factor.confirmedAt,
            factor.lastUsedAt, factor.id)
    }

    func deleteTOTPFactor(_ id: Identifier<TOTPFactor>, of userID: Identifier<User>) -> Answer<Bool> {
        changes(TOTPFactorRow.delete, id, userID)
    }

    func deleteTOTPFactors(of userID: Identifier<User>) {
        perform(TOTPFactorRow.deleteOfUser, userID)
    }

    func recoveryCodes(of userID: Identifier<User>) -> Answer<[RecoveryCode]> {
        all(RecoveryCodeRow.selectOfUser, userID) { (row) throws(CorruptRow) in try RecoveryCodeColumns.read(&row) }
    }

    func recoveryCodesForUpdate(of userID: Identifier<User>) -> Answer<[RecoveryCode]> { recoveryCodes(of: userID) }

    func write(_ code: RecoveryCode) {
        perform(RecoveryCodeRow.replace) { row in RecoveryCodeColumns.write(code, to: &row) }
    }

    func deleteRecoveryCodes(of userID: Identifier<User>) {
        perform(RecoveryCodeRow.deleteOfUser, userID)
    }
}

/// Every statement about the details of users.
enum UserDetailsRow {
    private static let columns = UserDetailsColumns.all.list

    static let select = Query("SELECT \(columns) FROM user_details WHERE user_id = ?")
    static let selectPage = Query("SELECT \(columns) FROM user_details WHERE user_id > ? ORDER BY user_id LIMIT ?")
    static let selectDeleting = Query(
        "SELECT user_id FROM user_details WHERE delete_at <= ? ORDER BY delete_at LIMIT ?")
    static let replace = Query(replacing: nil, UserDetailsColumns.all, in: "user_details")
    static let delete = Query("DELETE FROM user_details WHERE user_id = ?")

    static func read(_ row: inout Row) throws(CorruptRow) -> UserDetails { try UserDetailsColumns.read(&row) }
}

/// Every statement about authenticator apps.
enum TOTPFactorRow {
    private static let columns = TOTPFactorColumns.all.list

    static let selectOfUser = Query("SELECT \(columns) FROM totp_factors WHERE user_id = ? ORDER BY id")
    static let selectPage = Query("SELECT \(columns) FROM totp_factors WHERE id > ? ORDER BY id LIMIT ?")
    static let insert = Query(inserting: nil, TOTPFactorColumns.all, into: "totp_factors")
    static let update = Query(
        """
        UPDATE totp_factors SET name = ?, sealed_seed = ?, last_step = ?, confirmed_at = ?, last_used_at = ?
        WHERE id = ?
        """)
    static let delete = Query("DELETE FROM totp_factors WHERE id = ? AND user_id = ?")
    static let deleteOfUser = Query("DELETE FROM totp_factors WHERE user_id = ?")

    static func read(_ row: inout Row) throws(CorruptRow) -> TOTPFactor { try TOTPFactorColumns.read(&row) }
}

/// Every statement about recovery codes.
enum RecoveryCodeRow {
    static let selectOfUser = Query(
        "SELECT \(RecoveryCodeColumns.all.list) FROM recovery_codes WHERE user_id = ? ORDER BY hash")
    static let replace = Query(
        inserting: nil, RecoveryCodeColumns.all, into: "recovery_codes",
        onConflict: "ON CONFLICT (user_id, hash) DO UPDATE SET used_at = excluded.used_at")
    static let deleteOfUser = Query("DELETE FROM recovery_codes WHERE user_id = ?")
}
