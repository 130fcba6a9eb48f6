public import Sessions

/// A PIN as a row.
public enum PINColumns {
    /// The columns, in the order of `read`.
    public static let all = Columns(
        "session_id", "user_id", "mac_hash", "replaced_mac_hash", "wrong_pins", "created_at", "changed_at")

    /// Reads the columns.
    public static func read(_ row: inout some StoredRow) throws(CorruptRow) -> PIN {
        let (sessionID, userID): (Identifier<Session>, Identifier<User>) = (try row.identifier(), try row.identifier())
        return PIN(
            sessionID: sessionID, userID: userID, macHash: row.bytes(), replacing: row.optional { row in row.bytes() },
            wrongCount: Int(row.integer()), createdAt: row.instant(), changedAt: row.instant())
    }

    /// Writes all columns.
    public static func write(_ pin: PIN, to row: inout some WrittenRow) {
        row.add(pin.sessionID)
        row.add(pin.userID)
        row.add(pin.macHash)
        row.add(pin.replacedMACHash)
        row.add(Int64(pin.wrongCount))
        row.add(pin.createdAt)
        row.add(pin.changedAt)
    }
}
