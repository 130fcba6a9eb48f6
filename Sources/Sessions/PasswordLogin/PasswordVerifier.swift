/// A password in a request, with the account and the device.
struct PasswordAttempt: Sendable {
    /// The account for which the password comes.
    enum Account: Sendable {
        /// A name as the user has typed it, and what it may be.
        case named(String, PageRegistration.LoginNames)
        /// The account of an invitation.
        case known(Identifier<User>)
    }

    let account: Account
    let password: String
    /// The device that the request names, if it names one.
    let deviceID: String?
    /// The client for which the user logs in, if there is one.
    let clientID: String?
}

/// Verifies passwords, and counts wrong ones.
///
/// Wrong passwords are counted in three kinds of rows: logins that name a device on which the user has an active session,
/// logins from anywhere else, and, for each session, passwords that come with its tokens. So a stranger's failed attempts never
/// lock the user out of a session, because only the holder of a session's token uses up its attempts. Nor do they prevent a new
/// login on a known device, unless the stranger knows the device's id; and failed attempts with a stolen token prevent no
/// login.
///
/// Where there is a session, the store has the count, and every node acts on it (`AdmittedAttempt`). For logins from anywhere
/// else each node delays in memory, for every name alike, so that a 429 does not disclose which names exist. The count that
/// leads to the lock is stored with the user, so that it outlives restarts and all nodes share it. A node that knows of a lock
/// from the store alone, or of a delay from another name of the user, answers as to a wrong password, equally slowly, because
/// unknown names have neither and must not be distinguishable.
final class PasswordVerifier: UseCase {
    let context: ServiceContext

    init(_ context: ServiceContext) { self.context = context }

    /// The user of that account, if the password is right.
    func user(_ attempt: PasswordAttempt, from origin: Origin) async throws(ServiceError) -> User {
        let now = context.clock.now
        let user = try await user(of: attempt.account)
        let counts = AttemptCounts(of: attempt.account, user)
        // An admin may have unlocked the user, at whichever node.
        if let liftedAt = user?.wrongPasswords?.liftedAt {
            for subject in counts.all { context.failedAttempts.forget(subject, upTo: liftedAt) }
        }
        let wait = context.failedAttempts.wait(counts.told, at: now)
        let isDelayed = wait == nil && counts.hidden.map { context.failedAttempts.wait($0, at: now) != nil } ?? false
        var isLocked = user?.wrongPasswords?.isLocked(at: now) ?? false
        var isKnown = false
        if wait != nil || isDelayed || isLocked {
            isKnown = try await hasSession(user, on: attempt.deviceID, at: now)
            if let wait, !isKnown { throw .tooManyRequests(retryAfter: wait) }
        }
        let requester = try await requester(attempt, of: user, isKnown: isKnown, from: origin, at: now)
        // For an unknown name the store is asked as well.
        let here = try await admit(
            at: .device(attempt.deviceID ?? "", of: user?.id ?? Identifier(random: context.random)), now)
        let isRight = try await context.passwords.verify(attempt.password, against: user?.passwordHash, for: requester)
        // Attempts at the same time, at any node, are decided one after the other: those before may have brought a lock.
        let wrongHere = try await failedAttempts(before: here)
        var wrong = user?.wrongPasswords
        if !isLocked, !isDelayed, !isKnown {
            wrong = try await wrongPasswords(of: user)
            isLocked = wrong?.isLocked(at: now) ?? false
            if isLocked { isKnown = try await hasSession(user, on: attempt.deviceID, at: now) }
        }
        guard var user, isRight, isKnown || !isLocked && !isDelayed else {
            // A right password is no wrong one, although the answer does not tell. What cannot succeed is not stored, so that a
            // right password writes what a wrong one writes.
            let reason = user == nil ? "unknown_user" : isLocked ? "locked" : isDelayed ? "delayed" : nil
            let subjects = isRight ? [counts.told] : counts.all
            try await countWrongPassword(attempt, of: user, subjects, here, reason, origin, now)
            throw .invalidCredentials
        }
        try await forget(wrongHere, before: here)
        if !isKnown {
            for subject in counts.all { context.failedAttempts.forget(subject) }
            if let wrong, wrong.count > 0 { try await forgetWrongPasswords(of: user.id) }
        }
        if let hash = user.passwordHash, context.passwords.needsRehash(hash) {
            user.passwordHash = try await rehash(attempt.password, of: user, for: requester)
        }
        return user
    }

    private func user(of account: PasswordAttempt.Account) async throws(ServiceError) -> User? {
        switch account {
        case .named(let name, let names):
            guard User.isLoginName(name) else { return nil }
            return try await inStore(await store.user(name, loggingInBy: names))
        case .known(let id):
            return try await inStore(await store.user(.id(id)))
        }
    }

    /// Verifies the password of a user in a session: wrong passwords are counted for that session alone.
    func verify(
        _ password: String, of user: User, in session: Session, from origin: Origin
    ) async throws(ServiceError) {
        let now = context.clock.now
        let here = try await admit(at: .session(session.id, of: user.id), now)
        let requester = PasswordHasher.Requester.session(session, from: origin)
        let isRight = try await context.passwords.verify(password, against: user.passwordHash, for: requester)
        guard isRight else {
            try await countWrong(
                here, AuditEvent(.loginFailed, at: now, by: origin, session: session, reason: "wrong_password"))
            throw .invalidCredentials
        }
        try await forget(try await failedAttempts(before: here), before: here)
    }

    /// The origin of a password, for its place in the queue. Whether the device is known is asked only while passwords wait, so
    /// that an ordinary login costs no read.
    private func requester(
        _ attempt: PasswordAttempt, of user: User?, isKnown: Bool, from origin: Origin, at now: Instant
    ) async throws(ServiceError) -> PasswordHasher.Requester {
        var isKnown = isKnown
        if !isKnown, attempt.deviceID != nil, context.passwords.isBusy {
            isKnown = try await hasSession(user, on: attempt.deviceID, at: now)
        }
        let device = isKnown ? user.map { PasswordHasher.Requester.Evidence.knownDevice(of: $0.id) } : nil
        return PasswordHasher.Requester(origin, clientID: attempt.clientID, device ?? .none)
    }

    /// Counts a wrong password, and records it in the audit trail. An unknown name is recorded without the name, and reads and
    /// writes as much, so that the duration does not distinguish it from a wrong password.
    ///
    /// - Parameters:
    ///   - subjects: what it counts for on this node.
    ///   - reason: the reason of the event of an attempt that does not count for the user; nil: it counts.
    private func countWrongPassword(
        _ attempt: PasswordAttempt, of user: User?, _ subjects: [AttemptSubject], _ here: AdmittedAttempt,
        _ reason: String?, _ origin: Origin, _ now: Instant
    ) async throws(ServiceError) {
        if try await hasSession(user, on: attempt.deviceID, at: now) {
            return try await countWrong(
                here, AuditEvent(.loginFailed, at: now, by: origin, userID: user?.id, reason: "wrong_password"))
        }
        for subject in subjects { context.failedAttempts.count(subject, at: now) }
        guard let user, reason == nil else {
            return try await recordFailedLogin(of: user?.id, reason ?? "unknown_user", from: origin)
        }
        let policy = context.lockoutPolicy
        _ = try await inStore(
            await store.updateUser(.id(user.id)) { change in
                let wrong = policy.adding(to: change.user.wrongPasswords, at: now)
                change.user.wrongPasswords = wrong
                change.events.append(
                    AuditEvent(
                        .loginFailed, at: now, by: origin, userID: user.id,
                        reason: wrong.lockedUntil == nil ? "wrong_password" : "wrong_password_locked"))
            })
    }

    /// Hashes the password again after the parameters have risen, unless it was changed meanwhile. Returns the hash of the
    /// verified password.
    func rehash(
        _ password: String, of user: User, for requester: PasswordHasher.Requester
    ) async throws(ServiceError) -> String? {
        let hash = try await context.passwords.hash(password, for: requester)
        let update = try await inStore(
            await store.updateUser(.id(user.id)) { change in
                if change.user.passwordHash == user.passwordHash { change.user.passwordHash = hash }
                return change.user.passwordHash
            })
        guard case .done(let stored, _) = update, stored != hash else { return hash }
        // Another login has hashed the same password again, or the password was changed.
        return try await context.passwords.verify(password, against: stored, for: requester)
            ? stored : user.passwordHash
    }

    /// Whether the user has an active session on that device. For an unknown name the store is asked as well.
    private func hasSession(_ user: User?, on deviceID: String?, at now: Instant) async throws(ServiceError) -> Bool {
        let id = user?.id ?? Identifier(random: context.random)
        let found = try await inStore(await store.sessions(of: id, onDevice: deviceID ?? ""))
        return found.contains { policy.ending(of: $0, at: now) == nil }
    }

    /// The present count of a user's wrong passwords. For an unknown name the store is asked as well.
    private func wrongPasswords(of user: User?) async throws(ServiceError) -> User.WrongPasswords? {
        let id = user?.id ?? Identifier(random: context.random)
        return try await inStore(await store.user(.id(id)))?.wrongPasswords
    }

    private func forgetWrongPasswords(of userID: Identifier<User>) async throws(ServiceError) {
        _ = try await inStore(
            await store.updateUser(.id(userID)) { change in
                // The unlocking by an admin is kept, because other nodes may not have seen it yet.
                let liftedAt = change.user.wrongPasswords?.liftedAt
                change.user.wrongPasswords = liftedAt.map { User.WrongPasswords(count: 0, lastAt: $0) }
            })
    }
}
