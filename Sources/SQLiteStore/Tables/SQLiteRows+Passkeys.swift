internal import Sessions
internal import StoreFoundation

extension SQLiteRows {
    func passkey(_ id: [UInt8]) -> Answer<Passkey?> {
        first(PasskeyRow.select, id, read: PasskeyRow.read)
    }

    func passkeys(of userID: Identifier<User>) -> Answer<[Passkey]> {
        all(PasskeyRow.selectOfUser, userID, read: PasskeyRow.read)
    }

    func passkeys(after id: [UInt8]?, limit: Int) -> Answer<[Passkey]> {
        all(PasskeyRow.selectPage, id ?? [], limit, read: PasskeyRow.read)
    }

    func insert(_ passkey: Passkey) -> Answer<Bool> {
        answer { (connection) throws(DatabaseError) in try PasskeyRow.insert(passkey, connection) }
    }

    func update(_ passkey: Passkey) {
        perform(
            PasskeyRow.update, Int64(passkey.signCount), passkey.isBackupEligible, passkey.isBackedUp,
            passkey.isUserVerified, passkey.name, passkey.lastUsedAt, passkey.id)
    }

    func deletePasskey(_ id: [UInt8], of userID: Identifier<User>) -> Answer<Bool> {
        changes(PasskeyRow.delete, id, userID)
    }

    func deletePasskeys(of userID: Identifier<User>) {
        perform(PasskeyRow.deleteOfUser, userID)
    }
}

/// Every statement about passkeys.
enum PasskeyRow {
    private static let columns = PasskeyColumns.all.list

    static let select = Query("SELECT \(columns) FROM passkeys WHERE credential_id = ?")
    static let selectOfUser = Query("SELECT \(columns) FROM passkeys WHERE user_id = ? ORDER BY credential_id")
    static let selectPage = Query(
        "SELECT \(columns) FROM passkeys WHERE credential_id > ? ORDER BY credential_id LIMIT ?")
    static let update = Query(
        """
        UPDATE passkeys SET sign_count = ?, backup_eligible = ?, backed_up = ?, user_verified = ?, name = ?,
            last_used_at = ? WHERE credential_id = ?
        """)
    static let delete = Query("DELETE FROM passkeys WHERE credential_id = ? AND user_id = ?")
    static let deleteOfUser = Query("DELETE FROM passkeys WHERE user_id = ?")
    private static let insert = Query(
        inserting: nil, PasskeyColumns.all, into: "passkeys", onConflict: "ON CONFLICT DO NOTHING")

    static func read(_ row: inout Row) throws(CorruptRow) -> Passkey { try PasskeyColumns.read(&row) }

    /// Adds a passkey. False if it exists.
    static func insert(_ passkey: Passkey, _ connection: Connection) throws(DatabaseError) -> Bool {
        try connection.execute(insert) { row in PasskeyColumns.write(passkey, to: &row) } == 1
    }
}
