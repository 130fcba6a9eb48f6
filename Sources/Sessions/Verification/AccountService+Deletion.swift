// The end of an account by its user. It goes on for some days, so that a thief of a session cannot destroy it: the former mailbox,
// or a full login, keeps it.
extension AccountService {
    static let deletionPending = ServiceError.conflict(
        code: "deletion_pending", detail: "the user has deleted the account; cancel_deletion keeps it")

    /// Deletes the account of a session's user, which must prove the user's presence, or have proved it a moment ago. Returns
    /// the time of the deletion; nil: it is done.
    public func requestDeletion(
        in current: AuthenticatedSession, shownBy evidence: PresenceEvidence, language: String, from origin: Origin
    ) async throws(ServiceError) -> Instant? {
        if !current.user.isAnonymous { try await requirePresence(in: current, shownBy: evidence, from: origin) }
        return try await requestDeletion(
            of: current.user.id, by: .session(current.session.id), language: language, from: origin)
    }

    /// Deletes the account of the user of a browser's session, after an authentication a moment ago.
    public func requestDeletion(
        of visit: AccountPageSession, language: String, from origin: Origin
    ) async throws(ServiceError) -> Instant? {
        try requireRecent(visit)
        try await requireSecondFactor(visit.session, of: visit.user)
        return try await requestDeletion(
            of: visit.user.id, by: .browser(visit.session.id), language: language, from: origin)
    }

    private func requestDeletion(
        of userID: Identifier<User>, by proof: AccountProof, language: String, from origin: Origin
    ) async throws(ServiceError) -> Instant? {
        let (now, delay) = (context.clock.now, context.accountRules.deletionDelay)
        let mailIDs: [Identifier<QueuedMail>] =
            context.mails == nil ? [] : [Identifier(random: context.random), Identifier(random: context.random)]
        let deleteAt = try await update(.id(userID), by: proof, at: now, reading: UserChangeRows(details: true)) {
            change -> Result<Instant?, ServiceError> in
            if delay == .zero || change.user.isAnonymous {
                change.delete(at: now, by: origin)
                return .success(nil)
            }
            return .success(change.deleteLater(now + delay, mailIDs, language, at: now, by: origin))
        }.outcome
        context.mails?.wake()
        return deleteAt
    }

    /// When the account is deleted that the link of a mail keeps; nil: the link is over. Nothing changes.
    public func pendingDeletion(by token: String) async throws(ServiceError) -> Instant? {
        guard let (userID, until) = context.verificationSecrets.account(named: token, by: .keep),
            try await pendingDeletion(of: userID) == until
        else { return nil }
        return until
    }

    /// When the account of a user is deleted; nil: it is not.
    public func pendingDeletion(of userID: Identifier<User>) async throws(ServiceError) -> Instant? {
        try await inStore(
            await store.read(.short) { (reader) throws(TransactionError) in
                try reader.userDetails(userID).value()?.deleteAt
            })
    }

    /// Keeps an account that is to be deleted, by the link of a mail. Throws `verificationOver`.
    public func keepAccount(_ token: String, from origin: Origin) async throws(ServiceError) {
        guard let (userID, until) = context.verificationSecrets.account(named: token, by: .keep) else {
            throw .verificationOver
        }
        do throws(ServiceError) { try await keepAccount(of: userID, until: until, from: origin) } catch {
            throw error == .notFound("user") ? .verificationOver : error
        }
    }

    /// Keeps the account of a user after a login.
    func keepAccount(of userID: Identifier<User>, from origin: Origin) async throws(ServiceError) {
        try await keepAccount(of: userID, until: nil, from: origin)
    }

    private func keepAccount(
        of userID: Identifier<User>, until: Instant?, from origin: Origin
    ) async throws(ServiceError) {
        let now = context.clock.now
        _ = try await update(.id(userID), reading: UserChangeRows(details: true)) {
            change -> Result<Void, ServiceError> in
            guard let deleteAt = change.details?.deleteAt, until.map({ $0 == deleteAt }) ?? true else {
                return .failure(.verificationOver)
            }
            // With the switch the transaction takes the time of the deletion back.
            change.switchLogins(.loginsEnabled, at: now, by: origin) { $0.disabledByUser = nil }
            return .success(())
        }
    }
}

extension UserChange {
    /// Lets the transaction remove the row with all that belongs to it.
    mutating func delete(at now: Instant, by origin: Origin) {
        deletes = true
        ending = EndingSessions(.userDeleted, at: now)
        var event = AuditEvent(.userDeleted, at: now, by: origin, userID: user.id)
        event.revokes = .userDeleted
        events.append(event)
    }

    /// Lets the user be deleted at `instant`, and switches logins off until then. The mailbox is told, and the former one while it
    /// can undo the change. Returns the time of the deletion.
    fileprivate mutating func deleteLater(
        _ instant: Instant, _ mailIDs: [Identifier<QueuedMail>], _ language: String, at now: Instant, by origin: Origin
    ) -> Instant {
        if let known = details?.deleteAt { return known }
        details?.deleteAt = instant
        events.append(AuditEvent(.deletionRequested, at: now, by: origin, userID: user.id))
        switchLogins(.loginsDisabled, at: now, by: origin, reason: User.LoginDisabling.Effective.immediate.rawValue) {
            $0.disabledByUser = User.LoginDisabling(effective: .immediate, since: now)
        }
        ending = EndingSessions(.revokedByUser, at: now)
        events.append(
            AuditEvent(.sessionsEnded, at: now, by: origin, userID: user.id, reason: EndReason.revokedByUser.rawValue))
        let present = user.profile.isEmailVerified ? user.profile.email : nil
        let former = details?.formerEmailUntil.map { now < $0 } == true ? details?.formerEmail : nil
        for (mailID, email) in zip(mailIDs, [present, former].compactMap(\.self)) {
            mails.append(
                QueuedMail(
                    id: mailID, kind: .deletion, userID: user.id, email: email,
                    language: details?.language ?? language, createdAt: now, expiresAt: instant, dueAt: now))
        }
        return instant
    }
}

extension Store {
    /// Deletes up to `limit` accounts that are due at `now`. Returns their number.
    public func deleteDueAccounts(at now: Instant, limit: Int) async throws(StoreError) -> Int {
        let due = try await read(.short) { (reader) throws(TransactionError) in
            try reader.usersToDelete(at: now, limit: limit).value()
        }
        var deleted = 0
        for userID in due {
            let outcome = try await updateUser(.id(userID), reading: UserChangeRows(details: true)) { change -> Bool in
                // The user may have kept the account meanwhile.
                guard let deleteAt = change.details?.deleteAt, deleteAt <= now else { return false }
                change.delete(at: now, by: .system)
                return true
            }
            if case .done(true, _) = outcome { deleted += 1 }
        }
        return deleted
    }
}
