public import Sessions
internal import WebAuthn

/// A passkey as a row.
public enum PasskeyColumns {
    /// The columns, in the order of `read`.
    public static let all = Columns(
        "credential_id", "user_id", "rp_id", "public_key", "sign_count", "backup_eligible", "backed_up",
        "user_verified", "transports", "aaguid", "name", "created_at", "last_used_at")

    /// Reads the columns of a passkey.
    public static func read(_ row: inout some StoredRow) throws(CorruptRow) -> Passkey {
        let (id, userID, rpID): ([UInt8], Identifier<User>, String) = (row.bytes(), try row.identifier(), row.text())
        guard let key = try? COSEKey(row.bytes()) else {
            throw CorruptRow("user \(userID) has a passkey without a key")
        }
        guard let signCount = UInt32(exactly: row.integer()) else {
            throw CorruptRow("user \(userID) has a passkey with a counter that is none")
        }
        return Passkey(
            id: id, userID: userID, rpID: rpID, publicKey: key, signCount: signCount, isBackupEligible: row.bool(),
            isBackedUp: row.bool(), isUserVerified: row.bool(), transports: row.list(),
            aaguid: row.optional { row in row.bytes() }, name: row.text(), createdAt: row.instant(),
            lastUsedAt: row.optionalInstant())
    }

    /// Writes all columns of a passkey.
    public static func write(_ passkey: Passkey, to row: inout some WrittenRow) {
        row.add(passkey.id)
        row.add(passkey.userID)
        row.add(passkey.rpID)
        row.add(passkey.publicKey.bytes)
        row.add(Int64(passkey.signCount))
        row.add(passkey.isBackupEligible)
        row.add(passkey.isBackedUp)
        row.add(passkey.isUserVerified)
        row.add(list: passkey.transports)
        row.add(passkey.aaguid)
        row.add(passkey.name)
        row.add(passkey.createdAt)
        row.add(passkey.lastUsedAt)
    }
}
