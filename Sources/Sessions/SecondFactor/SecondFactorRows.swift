/// The requests about second factors.
public protocol SecondFactorReader {
    /// The authenticator apps of a user, by id.
    func totpFactors(of userID: Identifier<User>) -> Answer<[TOTPFactor]>

    /// Every authenticator app, by id.
    func totpFactors(after id: Identifier<TOTPFactor>?, limit: Int) -> Answer<[TOTPFactor]>

    /// The recovery codes of a user, by hash.
    func recoveryCodes(of userID: Identifier<User>) -> Answer<[RecoveryCode]>
}

/// The requests and writes about second factors inside a transaction.
public protocol SecondFactorTransaction: SecondFactorReader {
    /// The authenticator apps of a user, for update, by id.
    func totpFactorsForUpdate(of userID: Identifier<User>) -> Answer<[TOTPFactor]>

    /// Adds an authenticator app.
    func insert(_ factor: TOTPFactor)

    /// Writes the mutable fields of an authenticator app.
    func update(_ factor: TOTPFactor)

    /// Deletes an authenticator app of a user. False if the user has no such one.
    func deleteTOTPFactor(_ id: Identifier<TOTPFactor>, of userID: Identifier<User>) -> Answer<Bool>

    /// Deletes the authenticator apps of a user.
    func deleteTOTPFactors(of userID: Identifier<User>)

    /// The recovery codes of a user, for update, by hash.
    func recoveryCodesForUpdate(of userID: Identifier<User>) -> Answer<[RecoveryCode]>

    /// Adds a recovery code, or writes the time of its use.
    func write(_ code: RecoveryCode)

    /// Deletes the recovery codes of a user.
    func deleteRecoveryCodes(of userID: Identifier<User>)
}
