internal import Sessions
internal import StoreFoundation

extension PostgresRows {
    func passkey(_ id: [UInt8]) -> Answer<Passkey?> { first(PasskeySQL.select(id), PasskeySQL.read) }

    func passkeys(of userID: Identifier<User>) -> Answer<[Passkey]> {
        all(PasskeySQL.select(of: userID), PasskeySQL.read)
    }

    func passkeys(after id: [UInt8]?, limit: Int) -> Answer<[Passkey]> {
        all(PasskeySQL.selectPage(after: id, limit: limit), PasskeySQL.read)
    }

    func insert(_ passkey: Passkey) -> Answer<Bool> {
        share(passkey.userID)
        return changes(PasskeySQL.insert(passkey))
    }

    func update(_ passkey: Passkey) { perform(PasskeySQL.update(passkey)) }

    func deletePasskey(_ id: [UInt8], of userID: Identifier<User>) -> Answer<Bool> {
        changes(PasskeySQL.delete(id, of: userID))
    }

    func deletePasskeys(of userID: Identifier<User>) { perform(PasskeySQL.delete(of: userID)) }
}
