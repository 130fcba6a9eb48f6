/// A password that somebody types, and where.
struct LoginAttempt: Sendable {
    let username: String
    let password: String
    /// The device that the request names, if it names one.
    let deviceID: String?
}

// Wrong passwords are counted in rows that know nothing of each other: logins that name a device on which the user has a
// living session, logins from anywhere else, and for each session the passwords that come with its tokens. So a stranger's
// failedAttempts never keep the owner from a session, which asks for the password at times: anybody can name a device, but only who
// holds a session's token can use up its tries. Nor do they keep the owner from logging in again on such a device, unless
// the stranger knows its id; and failedAttempts with a stolen token keep the owner from no login.
//
// Where there is a session, the store has the count, and what follows from it is the same at every node (`SharedGuesses`). For
// logins from anywhere else the delays are each node's own, in memory, and the same for every name, be it somebody's or not: what
// answers 429 says nothing about who is there. The count that leads to the lock is kept with the user, so that it outlives
// restarts and all nodes share it. A node that knows of a lock from there alone answers as to a wrong password, equally slowly: it has
// nothing of that kind for names that nobody has, and must not tell them apart.
extension TokenService {
    /// The user with that name and password.
    func verifiedUser(_ attempt: LoginAttempt, from origin: Origin) async throws(ServiceError) -> User {
        let now = context.clock.now
        let name = Text.key(attempt.username)
        let user =
            Text.isValid(attempt.username, lengthMax: User.usernameLengthMax)
            ? try await inStore { () async throws(StoreError) in try await store.user(.username(attempt.username)) }
            : nil
        // An admin may have unlocked the user, at whichever node.
        if let liftedAt = user?.wrongPasswords?.liftedAt { context.failedAttempts.forget(name, upTo: liftedAt) }
        let wait = context.failedAttempts.wait(name, at: now)
        var isLocked = user?.wrongPasswords?.isLocked(at: now) ?? false
        var isKnown = false
        if wait != nil || isLocked {
            isKnown = try await hasSession(user, on: attempt.deviceID, at: now)
            if let wait, !isKnown { throw .tooManyRequests(retryAfter: wait) }
        }
        // For nobody it looks as well.
        let here = try await admit(
            at: .device(attempt.deviceID ?? "", of: user?.id ?? Identifier(random: context.random)), now)
        let isRight = try await context.passwords.verify(attempt.password, against: user?.passwordHash)
        // Many tries at once, here and at other nodes, are judged one after the other: those before may have brought a lock.
        let wrongHere = try await failedAttempts(before: here)
        var wrong = user?.wrongPasswords
        if !isLocked, !isKnown {
            wrong = try await wrongPasswords(of: user)
            isLocked = wrong?.isLocked(at: now) ?? false
            if isLocked { isKnown = try await hasSession(user, on: attempt.deviceID, at: now) }
        }
        guard var user, isRight, !isLocked || isKnown else {
            try await countWrongPassword(attempt, of: user, name, here, isLocked: isLocked, from: origin, at: now)
            throw .invalidCredentials
        }
        try await forget(wrongHere, before: here)
        if !isKnown {
            context.failedAttempts.forget(name)
            if let wrong, wrong.count > 0 { try await forgetWrongPasswords(of: user.id) }
        }
        if let hash = user.passwordHash, context.passwords.needsRehash(hash) {
            user.passwordHash = try await rehash(attempt.password, of: user)
        }
        return user
    }

    /// Checks the password of a user in a session of theirs: wrong ones are counted for that session alone.
    func verify(
        _ password: String, of user: User, in session: Session, from origin: Origin
    ) async throws(ServiceError) {
        let now = context.clock.now
        let here = try await admit(at: .session(session.id, of: user.id), now)
        let isRight = try await context.passwords.verify(password, against: user.passwordHash, for: .user(user.id))
        guard isRight else {
            try await countWrong(
                here,
                AuditEvent(
                    .loginFailed, at: now, by: origin, userID: user.id, sessionID: session.id, reason: "wrong_password")
            )
            throw .invalidCredentials
        }
        try await forget(try await failedAttempts(before: here), before: here)
    }

    /// Counts, and tells the audit trail. An unknown name is recorded too, without what was typed, and as much is read and
    /// written for it, so that the wait for the disk does not tell it from a wrong password.
    private func countWrongPassword(
        _ attempt: LoginAttempt, of user: User?, _ name: String, _ here: AdmittedAttempt, isLocked: Bool,
        from origin: Origin, at now: Instant
    ) async throws(ServiceError) {
        if try await hasSession(user, on: attempt.deviceID, at: now) {
            return try await countWrong(
                here, AuditEvent(.loginFailed, at: now, by: origin, userID: user?.id, reason: "wrong_password"))
        }
        context.failedAttempts.count(name, at: now)
        guard let user, !isLocked else {
            return try await recordFailedLogin(of: user?.id, user == nil ? "unknown_user" : "locked", from: origin)
        }
        let policy = context.lockoutPolicy
        _ = try await inStore { () async throws(StoreError) in
            try await store.updateUser(.id(user.id)) { change in
                let wrong = policy.adding(to: change.user.wrongPasswords, at: now)
                change.user.wrongPasswords = wrong
                change.events.append(
                    AuditEvent(
                        .loginFailed, at: now, by: origin, userID: user.id,
                        reason: wrong.lockedUntil == nil ? "wrong_password" : "wrong_password_locked"))
            }
        }
    }

    /// Whether the user has a living session on that device. For nobody it looks as well, and finds nothing.
    private func hasSession(_ user: User?, on deviceID: String?, at now: Instant) async throws(ServiceError) -> Bool {
        let id = user?.id ?? Identifier(random: context.random)
        let found = try await inStore { () async throws(StoreError) in
            try await store.sessions(of: id, onDevice: deviceID ?? "")
        }
        return found.contains { policy.ending(of: $0, at: now) == nil }
    }

    /// The wrong passwords of a user as they are now. For nobody it looks as well.
    private func wrongPasswords(of user: User?) async throws(ServiceError) -> User.WrongPasswords? {
        let id = user?.id ?? Identifier(random: context.random)
        return try await inStore { () async throws(StoreError) in try await store.user(.id(id)) }?.wrongPasswords
    }

    private func forgetWrongPasswords(of userID: Identifier<User>) async throws(ServiceError) {
        _ = try await inStore { () async throws(StoreError) in
            try await store.updateUser(.id(userID)) { change in
                // That an admin has unlocked the user is kept, for nodes that have not seen it yet.
                let liftedAt = change.user.wrongPasswords?.liftedAt
                change.user.wrongPasswords = liftedAt.map { User.WrongPasswords(count: 0, lastAt: $0) }
            }
        }
    }
}
