internal import Sessions

/// The locks of users. A transaction of the domain names the users that it knows beforehand (`TransactionScope`); all others
/// are met here, at the rows. A session is read for update and written, and a user is read for update, only under the shared lock
/// of the user, and a user is written only under the lock alone. A transaction without it runs again, and takes it first.
extension PostgresRows {
    /// Whether a lock of a user can still be taken in the order of locks.
    var canTakeLock: Bool {
        guard let users else { return false }
        return users.isEmpty && !users.areAllAlone && missing.isEmpty && !holdsRows
    }

    /// The locks of all users that the transaction has met: those that it holds, and those that it misses.
    var met: UserLocks {
        var all = missing
        if let users { all.formUnion(users) }
        return all
    }

    /// See `UserTransaction`.
    func addToScope(_ userID: Identifier<User>) { share(userID) }

    /// Shares the lock of a user: at once, if the order of locks allows it, or else from the beginning of the next attempt.
    func share(_ userID: Identifier<User>) {
        guard let users else { return }
        let number = UserLocks.number(of: userID)
        if users.has(number, alone: false) { return }
        if canTakeLock {
            lock(UserLocks.sharing(number))
            self.users?.add(number, alone: false)
        } else {
            missing.add(number, alone: false)
        }
    }

    /// Shares the lock of a user of which a row is written.
    func shareToWrite(_ userID: Identifier<User>) {
        precondition(users != nil, "a session is changed under a lock")
        share(userID)
    }

    /// Requires the lock of a user alone.
    func takeAlone(_ userID: Identifier<User>) {
        let number = UserLocks.number(of: userID)
        guard let users else { preconditionFailure("a user is changed under a lock") }
        if !users.has(number, alone: true) { missing.add(number, alone: true) }
    }
}
