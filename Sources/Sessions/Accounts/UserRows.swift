/// The requests about users and their sources.
public protocol UserReader {
    func user(_ reference: UserReference) -> Answer<User?>

    /// The users with one of those ids, usernames or verified addresses (`Text.emailKey`), in no order. The list may contain a user
    /// more than once.
    func users(
        _ ids: [Identifier<User>], named usernames: [String], orAddresses emailKeys: [String]
    ) -> Answer<[User]>

    /// Up to `limit` users, in no order, by the key of the username, or by that of the verified address (`Text.emailKey`); nil: by
    /// no address.
    func users(named key: String, orAddress emailKey: String?, limit: Int) -> Answer<[User]>

    /// Up to `limit` users, in no order, with that address in lower case, verified or not. Reads no other user.
    func users(withEmail emailKey: String, limit: Int) -> Answer<[User]>

    /// Up to `limit` users, in no order, with one of those two telephone numbers, letter by letter. Reads no other user.
    func users(withPhoneNumber number: String, or other: String, limit: Int) -> Answer<[User]>

    /// Users with a username, e-mail or name that contains `query`, in the order of their usernames' keys. May read every user.
    func users(matching query: String?, after key: String, limit: Int) -> Answer<[User]>

    /// Anonymous users, in the order of their ids. Reads no other user.
    func anonymousUsers(after id: Identifier<User>?, limit: Int) -> Answer<[User]>

    /// The sources of those users, in no order. A user that does not exist has none.
    func userSources(of ids: [Identifier<User>]) -> Answer<[UserSources]>
}

extension UserReader {
    /// The users with one of those ids or usernames, in no order. The list may contain a user twice.
    func users(_ ids: [Identifier<User>], named usernames: [String]) -> Answer<[User]> {
        users(ids, named: usernames, orAddresses: [])
    }

    /// The user that has verified the address with that key (`Text.emailKey`), as a list.
    func owner(ofMailbox emailKey: String) -> Answer<[User]> { users(named: "", orAddress: emailKey, limit: 1) }
}

/// The requests and writes about users and their sources inside a transaction.
public protocol UserTransaction: UserReader {
    func userForUpdate(_ reference: UserReference) -> Answer<User?>

    /// Adds a user to those of the scope (`TransactionScope.users`), before the transaction locks or writes a row: one that the
    /// transaction is about to insert. Users that are read for update, or by their id, are added with the read.
    func addToScope(_ userID: Identifier<User>)

    /// Adds a user. False if the username is taken; nothing was written.
    func insert(_ user: User) -> Answer<Bool>

    /// Writes all mutable fields of the user with that id.
    func update(_ user: User)

    /// Deletes a user, but no row that belongs to the user. Erases from the user's events what changes of the user say of values,
    /// and the names of devices.
    func deleteUser(_ id: Identifier<User>)

    /// Adds or replaces the sources of a user.
    func replace(_ sources: UserSources)

    func deleteUserSources(of userID: Identifier<User>)
}
