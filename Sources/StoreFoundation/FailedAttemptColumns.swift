public import Sessions

/// Wrong passwords of one target, as a row beside its digest and its user.
public enum FailedAttemptColumns {
    /// In the order in which `read` reads them.
    public static let all = Columns("wrong_passwords", "wrong_password_at")

    /// Reads the columns.
    public static func read(_ row: inout some StoredRow) -> FailedAttempts {
        FailedAttempts(count: Int(row.integer()), lastAt: row.instant())
    }
}
