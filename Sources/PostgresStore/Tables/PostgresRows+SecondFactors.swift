internal import Sessions
internal import StoreFoundation

extension PostgresRows {
    func userDetails(_ userID: Identifier<User>) -> Answer<UserDetails?> {
        first(UserDetailsSQL.select(userID), UserDetailsSQL.read)
    }

    func userDetails(after userID: Identifier<User>?, limit: Int) -> Answer<[UserDetails]> {
        all(UserDetailsSQL.selectPage(after: userID, limit: limit), UserDetailsSQL.read)
    }

    func usersToDelete(at instant: Instant, limit: Int) -> Answer<[Identifier<User>]> {
        all(UserDetailsSQL.selectDeleting(at: instant, limit: limit)) { (row) throws(CorruptRow) in
            try row.identifier()
        }
    }

    func userDetailsForUpdate(_ userID: Identifier<User>) -> Answer<UserDetails> {
        // The user is locked before its details, so that no other transaction adds a row meanwhile.
        holdsRows = true
        return ask([UserDetailsSQL.select(userID, locked: "FOR UPDATE")]) { (rows) throws(DatabaseError) in
            try rows[0].first(UserDetailsSQL.read) ?? UserDetails(userID: userID)
        }
    }

    func write(_ details: UserDetails) {
        perform(details.isEmpty ? UserDetailsSQL.delete(details.userID) : UserDetailsSQL.replace(details))
    }

    func totpFactors(of userID: Identifier<User>) -> Answer<[TOTPFactor]> {
        all(TOTPFactorSQL.select(of: userID), TOTPFactorSQL.read)
    }

    func totpFactorsForUpdate(of userID: Identifier<User>) -> Answer<[TOTPFactor]> {
        allForUpdate(TOTPFactorSQL.select(of: userID, locked: "FOR UPDATE"), TOTPFactorSQL.read)
    }

    func totpFactors(after id: Identifier<TOTPFactor>?, limit: Int) -> Answer<[TOTPFactor]> {
        all(TOTPFactorSQL.selectPage(after: id, limit: limit), TOTPFactorSQL.read)
    }

    func insert(_ factor: TOTPFactor) {
        share(factor.userID)
        perform(TOTPFactorSQL.insert(factor))
    }

    func update(_ factor: TOTPFactor) { perform(TOTPFactorSQL.update(factor)) }

    func deleteTOTPFactor(_ id: Identifier<TOTPFactor>, of userID: Identifier<User>) -> Answer<Bool> {
        changes(TOTPFactorSQL.delete(id, of: userID))
    }

    func deleteTOTPFactors(of userID: Identifier<User>) { perform(TOTPFactorSQL.delete(of: userID)) }

    func recoveryCodes(of userID: Identifier<User>) -> Answer<[RecoveryCode]> {
        all(RecoveryCodeSQL.select(of: userID), RecoveryCodeSQL.read)
    }

    func recoveryCodesForUpdate(of userID: Identifier<User>) -> Answer<[RecoveryCode]> {
        allForUpdate(RecoveryCodeSQL.select(of: userID, locked: "FOR UPDATE"), RecoveryCodeSQL.read)
    }

    func write(_ code: RecoveryCode) {
        share(code.userID)
        perform(RecoveryCodeSQL.replace(code))
    }

    func deleteRecoveryCodes(of userID: Identifier<User>) { perform(RecoveryCodeSQL.delete(of: userID)) }
}
