public import Sessions

/// The details of a user as a row.
public enum UserDetailsColumns {
    /// The columns, in the order of `read`.
    public static let all = Columns(
        "user_id", "language", "second_factor", "wrong_factors", "wrong_factor_at", "former_email",
        "former_email_until", "delete_at")

    /// Reads the columns of a user's details.
    public static func read(_ row: inout some StoredRow) throws(CorruptRow) -> UserDetails {
        UserDetails(
            userID: try row.identifier(), language: row.optionalText(),
            secondFactor: try row.optionalWord(as: UserDetails.SecondFactorRequirement.self),
            wrongFactors: Int(row.integer()), wrongFactorAt: row.optionalInstant(), formerEmail: row.optionalText(),
            formerEmailUntil: row.optionalInstant(), deleteAt: row.optionalInstant())
    }

    /// Writes all columns of a user's details.
    public static func write(_ details: UserDetails, to row: inout some WrittenRow) {
        row.add(details.userID)
        row.add(details.language)
        row.add(details.secondFactor)
        row.add(Int64(details.wrongFactors))
        row.add(details.wrongFactorAt)
        row.add(details.formerEmail)
        row.add(details.formerEmailUntil)
        row.add(details.deleteAt)
    }
}

/// An authenticator app as a row.
public enum TOTPFactorColumns {
    /// The columns, in the order of `read`.
    public static let all = Columns(
        "id", "user_id", "name", "sealed_seed", "algorithm", "digits", "period", "last_step", "created_at",
        "confirmed_at", "last_used_at")

    /// Reads the columns of an authenticator app.
    public static func read(_ row: inout some StoredRow) throws(CorruptRow) -> TOTPFactor {
        TOTPFactor(
            id: try row.identifier(), userID: try row.identifier(), name: row.text(), sealedSeed: row.bytes(),
            algorithm: row.text(), digits: Int(row.integer()), period: Int(row.integer()), lastStep: row.integer(),
            createdAt: row.instant(), confirmedAt: row.optionalInstant(), lastUsedAt: row.optionalInstant())
    }

    /// Writes all columns of an authenticator app.
    public static func write(_ factor: TOTPFactor, to row: inout some WrittenRow) {
        row.add(factor.id)
        row.add(factor.userID)
        row.add(factor.name)
        row.add(factor.sealedSeed)
        row.add(factor.algorithm)
        row.add(Int64(factor.digits))
        row.add(Int64(factor.period))
        row.add(factor.lastStep)
        row.add(factor.createdAt)
        row.add(factor.confirmedAt)
        row.add(factor.lastUsedAt)
    }
}

/// A recovery code as a row.
public enum RecoveryCodeColumns {
    /// The columns, in the order of `read`.
    public static let all = Columns("user_id", "hash", "used_at")

    /// Reads the columns of a recovery code.
    public static func read(_ row: inout some StoredRow) throws(CorruptRow) -> RecoveryCode {
        RecoveryCode(userID: try row.identifier(), hash: row.bytes(), usedAt: row.optionalInstant())
    }

    /// Writes all columns of a recovery code.
    public static func write(_ code: RecoveryCode, to row: inout some WrittenRow) {
        row.add(code.userID)
        row.add(code.hash)
        row.add(code.usedAt)
    }
}
