public import Sessions

/// The failed attempts at one target as a row, without its digest and its user.
public enum FailedAttemptColumns {
    /// The columns, in the order of `read`.
    public static let all = Columns("wrong_passwords", "wrong_password_at")

    /// Reads the columns.
    public static func read(_ row: inout some StoredRow) -> FailedAttempts {
        FailedAttempts(count: Int(row.integer()), lastAt: row.instant())
    }
}
