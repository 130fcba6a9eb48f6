/// A new address of a user.
public struct EmailRequest: Sendable {
    /// The address as it was typed.
    public var email: String
    /// The language of page or app.
    public var language: String
    /// What the mail says of the request: `place`, `browser`, `device`.
    public var facts: [String: String]

    /// A request for the mailbox `email`.
    public init(email: String, language: String, facts: [String: String] = [:]) {
        (self.email, self.language, self.facts) = (email, language, facts)
    }
}

// The change of a user's mailbox. The profile changes after the proof of the new mailbox; the former one can take the account back
// for seven days.
extension AccountService {
    /// How long the former mailbox can undo a change.
    static let undoTime = Duration.seconds(7 * 86_400)

    /// Asks for a code and a link to the new mailbox. The session must prove the user's presence, or have proved it a moment
    /// ago. The answer is the same if another user has verified the mailbox, which gets another mail then.
    ///
    /// Throws `emailNotSupported`, `insufficientUserAuthentication`, and a conflict with the code `user_is_anonymous`.
    public func changeEmail(
        _ change: EmailRequest, in current: AuthenticatedSession, shownBy evidence: PresenceEvidence,
        from origin: Origin
    ) async throws(ServiceError) -> VerificationTicket {
        try await requirePresence(in: current, shownBy: evidence, from: origin)
        return try await changeEmail(change, of: current.user, in: current.session, from: origin)
    }

    /// As above, in the session of a browser, after an authentication a moment ago.
    public func changeEmail(
        _ change: EmailRequest, of visit: AccountPageSession, from origin: Origin
    ) async throws(ServiceError) -> VerificationTicket {
        try requireRecent(visit)
        try await requireSecondFactor(visit.session, of: visit.user)
        return try await changeEmail(change, of: visit.user, in: visit.session, from: origin)
    }

    private func changeEmail(
        _ change: EmailRequest, of user: User, in session: Session, from origin: Origin
    ) async throws(ServiceError) -> VerificationTicket {
        guard context.mails != nil else { throw .notFound("call: mail is not configured") }
        guard let address = Mailbox.deliverable(change.email) else { throw .emailNotSupported }
        if user.isAnonymous {
            throw .conflict(code: "user_is_anonymous", detail: "an anonymous user needs a name before a mailbox")
        }
        if user.profile.provenKey == address.key {
            throw .invalid(member: "email", detail: "is the verified address already")
        }
        var inquiry = verifications.inquiry(
            .email, address, by: VerificationAsker(session: session.id), of: session.clientID, in: change.language,
            facts: change.facts)
        inquiry.change = VerificationInquiry.Change(
            userID: user.id, sessionID: session.id,
            former: user.profile.provenKey == nil ? nil : user.profile.email,
            formerMailID: Identifier(random: context.random))
        return try await verifications.ask(inquiry, from: origin)
    }

    /// Changes the mailbox by the code that the new one has got, in the session that has asked. Throws `invalidCode`,
    /// `verificationOver`, and a conflict with the code `email_taken`.
    public func confirmEmail(
        code: String, in sessionID: Identifier<Session>, of userID: Identifier<User>, from origin: Origin
    ) async throws(ServiceError) -> User {
        let open = try await inStore(await store.openVerifications(of: userID))
        let own = open.filter { $0.purpose == .email && $0.sessionID == sessionID }
        guard let latest = own.max(by: { $0.createdAt < $1.createdAt }) else { throw .verificationOver }
        let handle = VerificationHandle(id: latest.id, asker: VerificationAsker(session: sessionID))
        let proof = try await verifications.prove(handle, code: code, from: origin)
        return try await useEmail(proof, in: sessionID, of: userID, from: origin)
    }

    /// Changes the mailbox by the link of the mail, in the session that has asked.
    public func confirmEmail(
        link token: String, in sessionID: Identifier<Session>, of userID: Identifier<User>, from origin: Origin
    ) async throws(ServiceError) -> User {
        let asker = VerificationAsker(session: sessionID)
        let proof = try await verifications.prove(link: token, by: asker, from: origin)
        return try await useEmail(proof, in: sessionID, of: userID, from: origin)
    }

    private func useEmail(
        _ proof: VerificationProof, in sessionID: Identifier<Session>, of userID: Identifier<User>, from origin: Origin
    ) async throws(ServiceError) -> User {
        let now = context.clock.now
        let mailIDs = (Identifier<QueuedMail>(random: context.random), Identifier<QueuedMail>(random: context.random))
        let rows = UserChangeRows(verification: proof.verification.id, details: true)
        let user: User
        do throws(ServiceError) {
            user = try await update(.id(userID), by: .session(sessionID), at: now, reading: rows) { change in
                change.takeMailbox(mailIDs, at: now, by: origin)
            }.outcome
        } catch { throw error == Self.usernameTaken ? Self.emailTaken : error }
        context.mails?.wake()
        return user
    }

    /// The change of the mailbox that a user has asked for, and not proven yet; nil: none.
    public func pendingEmail(of userID: Identifier<User>) async throws(ServiceError) -> Verification? {
        let now = context.clock.now
        return try await inStore(await store.openVerifications(of: userID)).filter {
            $0.purpose == .email && $0.state(at: now) != .over
        }.max { $0.createdAt < $1.createdAt }
    }

    // MARK: Undoing

    /// What the link of the former mailbox brings back: its address, and the present one. Nil: the link is over. Nothing changes.
    public func emailUndo(by token: String) async throws(ServiceError) -> (former: String, present: String?)? {
        guard let (userID, until) = context.verificationSecrets.account(named: token, by: .undo),
            context.clock.now < until
        else { return nil }
        let found = try await inStore(
            await store.read(.short) { (reader) throws(TransactionError) in
                let (user, details) = (reader.user(.id(userID)), reader.userDetails(userID))
                return (try user.value(), try details.value())
            })
        guard let user = found.0, let details = found.1, details.formerEmailUntil == until,
            let former = details.formerEmail
        else { return nil }
        return (former, user.profile.email)
    }

    /// Gives the account back to its former mailbox: the password is void, all sessions end, and a link for a new password is
    /// mailed to it. Throws `verificationOver`, and a conflict with the code `email_taken` if another user has verified it.
    public func undoEmailChange(_ token: String, from origin: Origin) async throws(ServiceError) {
        let (now, secrets) = (context.clock.now, context.verificationSecrets)
        guard let (userID, until) = secrets.account(named: token, by: .undo), now < until else {
            throw .verificationOver
        }
        let ids = (Identifier<Verification>(random: context.random), Identifier<QueuedMail>(random: context.random))
        let linkUntil = now + context.resetTokenLifetime
        do throws(ServiceError) {
            _ = try await update(.id(userID), reading: UserChangeRows(details: true)) { change in
                guard let details = change.details, details.formerEmailUntil == until,
                    let former = details.formerEmail.flatMap(Mailbox.deliverable)
                else { return Result<Void, ServiceError>.failure(.verificationOver) }
                let reset = Verification(
                    id: ids.0, purpose: .reset, mailbox: secrets.mailbox(former.key), email: former.text,
                    userID: userID, language: details.language ?? "en", keyID: secrets.keyID, createdAt: now,
                    codeUntil: now, linkUntil: linkUntil, mails: 1, mailedAt: now)
                change.giveBack(to: former, reset, ids.1, at: now, by: origin)
                return .success(())
            }
        } catch {
            switch error {
            case .notFound("user"): throw .verificationOver
            case Self.usernameTaken: throw Self.emailTaken
            default: throw error
            }
        }
        context.mails?.wake()
    }

    // MARK: Presence

    /// Demands that the user has authenticated a moment ago, or does so by `evidence`.
    func requirePresence(
        in current: AuthenticatedSession, shownBy evidence: PresenceEvidence, from origin: Origin
    ) async throws(ServiceError) {
        let now = context.clock.now
        var session = current.session
        let proof = try await presence.presence(
            provedBy: evidence, of: current.user, in: session, youngerThan: PresenceRequirement.ageMaxOfChanges,
            from: origin, at: now)
        if let proof { session.note(proof, at: now) }
        let requirement = try await guardRequirement(of: current.user.id)
        guard requirement.isMet(by: session, at: now) else {
            throw .insufficientUserAuthentication(requirement.asked(of: current.user, in: current.session))
        }
    }

    /// Demands that the user of a browser's session has authenticated a moment ago, and has not switched logins off.
    func requireRecent(_ visit: AccountPageSession) throws(ServiceError) {
        if visit.isPaused { throw .loginRefused(.loginDisabledByUser) }
        guard visit.isRecent else {
            throw .insufficientUserAuthentication(
                PresenceRequirement.ofChanges.asked(of: visit.user, in: visit.session))
        }
    }
}

extension UserChange {
    /// Takes over the proven mailbox, and lets the former one undo that. A username that is the former mailbox changes with it,
    /// because the mailbox may get another owner.
    fileprivate mutating func takeMailbox(
        _ mailIDs: (Identifier<QueuedMail>, Identifier<QueuedMail>), at now: Instant, by origin: Origin
    ) -> Result<User, ServiceError> {
        guard var used = verification, used.purpose == .email, used.userID == user.id, used.isUsable(at: now),
            let email = used.email, var details
        else { return .failure(.verificationOver) }
        used.endedAt = now
        verification = used
        let old = user.profile
        setMailbox(email, replacing: old)
        let language = details.language ?? used.language
        // A second change within the time does not take the account from the first mailbox.
        let isUndoable = details.formerEmailUntil.map { now < $0 } ?? false
        if let former = old.email, old.provenKey != nil {
            if !isUndoable {
                details.formerEmail = former
                details.formerEmailUntil = now + AccountService.undoTime
            }
            mails.append(
                QueuedMail(
                    id: mailIDs.0, kind: .emailChangedOld, userID: user.id, email: former, language: language,
                    facts: ["new": email], createdAt: now, expiresAt: now + Self.noticeTime, dueAt: now))
        }
        self.details = details
        mails.append(
            QueuedMail(
                id: mailIDs.1, kind: .emailChangedNew, userID: user.id, email: email, language: language,
                createdAt: now, expiresAt: now + Self.noticeTime, dueAt: now))
        closeFormerAddresses(of: old, at: now, by: origin)
        return .success(user)
    }

    /// How long the sender tries to deliver a notice.
    static var noticeTime: Duration { .seconds(3 * 86_400) }

    /// Gives the account back to the former mailbox.
    fileprivate mutating func giveBack(
        to former: Mailbox.Deliverable, _ reset: Verification, _ mailID: Identifier<QueuedMail>, at now: Instant,
        by origin: Origin
    ) {
        let old = user.profile
        setMailbox(former.text, replacing: old)
        user.passwordHash = nil
        deletesKeysSince = details?.formerEmailUntil.map { $0 + (.zero - AccountService.undoTime) }
        if details?.deleteAt != nil {
            // With the switch the transaction takes the time of the deletion back.
            switchLogins(.loginsEnabled, at: now, by: origin) { $0.disabledByUser = nil }
        }
        details?.formerEmail = nil
        details?.formerEmailUntil = nil
        endsVerifications = true
        newVerification = reset
        ending = EndingSessions(.notMe, at: now)
        mails.append(
            QueuedMail(
                id: mailID, kind: .reset, userID: user.id, verificationID: reset.id, language: reset.language,
                createdAt: now, expiresAt: reset.linkUntil, dueAt: now))
        events.append(AuditEvent(.emailChangeUndone, at: now, by: origin, userID: user.id))
        recordEmailChange(from: old, at: now, by: origin)
        events.append(
            AuditEvent(.sessionsEnded, at: now, by: origin, userID: user.id, reason: EndReason.notMe.rawValue))
    }

    private mutating func setMailbox(_ email: String, replacing old: User.Profile) {
        source = .proof
        if let key = old.email.flatMap(Text.emailKey), Text.emailKey(user.username) == key {
            user.username = Text.preparedUsername(email)
        }
        user.profile.email = email
        user.profile.isEmailVerified = true
    }
}
