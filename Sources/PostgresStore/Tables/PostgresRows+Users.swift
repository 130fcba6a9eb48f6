internal import Sessions
internal import StoreFoundation

extension PostgresRows {
    func user(_ reference: UserReference) -> Answer<User?> {
        if case .id(let id) = reference { share(id) }
        return first(UserSQL.select(reference), UserSQL.read)
    }

    func userForUpdate(_ reference: UserReference) -> Answer<User?> {
        if case .id(let id) = reference { share(id) }
        return firstForUpdate(UserSQL.selectForUpdate(reference), readForUpdate)
    }

    private func readForUpdate(_ row: inout Row) throws(CorruptRow) -> User {
        let user = try UserSQL.read(&row)
        share(user.id)
        return user
    }

    func users(
        _ ids: [Identifier<User>], named usernames: [String], orAddresses emailKeys: [String]
    ) -> Answer<[User]> {
        var keys = ArrayParameter(of: .text)
        for name in usernames { keys.append(Text.key(name)) }
        if emailKeys.isEmpty { return all(UserSQL.select(ArrayParameter(ids), keys), UserSQL.read) }
        var addresses = ArrayParameter(of: .text)
        for key in emailKeys { addresses.append(key) }
        return all(UserSQL.select(ArrayParameter(ids), keys, addresses), UserSQL.read)
    }

    func users(named key: String, orAddress emailKey: String?, limit: Int) -> Answer<[User]> {
        all(UserSQL.selectMeant(by: key, emailKey, limit: limit), UserSQL.read)
    }

    func users(withEmail emailKey: String, limit: Int) -> Answer<[User]> {
        all(UserSQL.select(withEmail: emailKey, limit: limit), UserSQL.read)
    }

    func users(withPhoneNumber number: String, or other: String, limit: Int) -> Answer<[User]> {
        all(UserSQL.select(withPhoneNumber: number, or: other, limit: limit), UserSQL.read)
    }

    func users(matching query: String?, after key: String, limit: Int) -> Answer<[User]> {
        all(UserSQL.selectPage(UserPattern(query), after: key, limit: limit), UserSQL.read)
    }

    func anonymousUsers(after id: Identifier<User>?, limit: Int) -> Answer<[User]> {
        all(UserSQL.selectAnonymous(after: id, limit: limit), UserSQL.read)
    }

    func insert(_ user: User) -> Answer<Bool> {
        share(user.id)
        return changes(UserSQL.insert(user))
    }

    func update(_ user: User) {
        takeAlone(user.id)
        perform(UserSQL.update(user))
    }

    func deleteUser(_ id: Identifier<User>) {
        takeAlone(id)
        perform(UserSQL.delete(id))
        perform(EventSQL.forgetValues(of: id))
    }

    func userSources(of ids: [Identifier<User>]) -> Answer<[UserSources]> {
        all(UserSourcesSQL.select(of: ids), UserSourcesSQL.read)
    }

    func replace(_ sources: UserSources) { perform(UserSourcesSQL.replace(sources)) }

    func deleteUserSources(of userID: Identifier<User>) { perform(UserSourcesSQL.delete(of: userID)) }

    func identity(_ key: Identity.Key) -> Answer<Identity?> { first(IdentitySQL.select(key), IdentitySQL.read) }

    func identities(of userID: Identifier<User>) -> Answer<[Identity]> {
        all(IdentitySQL.select(of: userID), IdentitySQL.read)
    }

    func identities(after key: Identity.Key?, limit: Int) -> Answer<[Identity]> {
        all(IdentitySQL.selectPage(after: key, limit: limit), IdentitySQL.read)
    }

    func insert(_ identity: Identity) -> Answer<Bool> {
        share(identity.userID)
        return changes(IdentitySQL.insert(identity))
    }

    func deleteIdentity(_ key: Identity.Key, of userID: Identifier<User>) -> Answer<Bool> {
        changes(IdentitySQL.delete(key, of: userID))
    }

    func deleteIdentities(of userID: Identifier<User>) { perform(IdentitySQL.delete(of: userID)) }
}
