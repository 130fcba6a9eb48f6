internal import Cryptography

/// A password reset with a checked link or proof.
public struct ProvenReset: Sendable {
    /// The user with the password to reset.
    public let userID: Identifier<User>
    /// The verification as it was read.
    let verification: Verification
}

// Forgotten passwords. The link of a mail or of an admin works in every browser, because it signs in nowhere; an app brings the
// token of the verification that it has proven. Nothing but the password and the sessions changes.
extension AccountService {
    /// Checks a link, or the token of an app that has proven the mailbox, before the new password is hashed. The link may have
    /// expired. Throws if it was used, or replaced by a newer one.
    public func passwordReset(by token: String) async throws(ServiceError) -> ProvenReset {
        if let handle = VerificationHandle(token: token) { return try await passwordReset(by: handle) }
        guard let id = context.verificationSecrets.verification(named: token, by: .prove),
            let found = try await inStore(await store.verification(id))
        else { throw Self.resetRefused }
        return try Self.reset(by: found)
    }

    /// Checks a proof of the mailbox by its code.
    public func passwordReset(by handle: VerificationHandle) async throws(ServiceError) -> ProvenReset {
        guard let found = try await inStore(await store.verification(handle.id)), handle.asked(for: found),
            found.provenAt != nil
        else { throw Self.resetRefused }
        return try Self.reset(by: found)
    }

    private static func reset(by verification: Verification) throws(ServiceError) -> ProvenReset {
        guard verification.purpose == .reset, verification.endedAt == nil, let userID = verification.userID else {
            throw resetRefused
        }
        return ProvenReset(userID: userID, verification: verification)
    }

    /// Sets a new password, uses the link or proof up, and ends all sessions.
    public func resetPassword(_ proven: ProvenReset, to new: String, from origin: Origin) async throws(ServiceError) {
        let now = context.clock.now
        guard now < proven.verification.usableUntil else { throw Self.resetRefused }
        do throws(ServiceError) {
            let requester = PasswordHasher.Requester(origin, clientID: nil, .secret(of: proven.userID))
            let rows = UserChangeRows(verification: proven.verification.id, ways: true)
            try await setPassword(of: .id(proven.userID), to: new, sentBy: requester, by: origin, reading: rows) {
                // The link may have been used or replaced while the password was hashed.
                $0.useReset(at: now) ? nil : Self.resetRefused
            }
        } catch {
            switch error {
            case .notFound("user"), Self.emailTaken: throw Self.resetRefused
            default: throw error
            }
        }
        context.mails?.wake()
    }

    static let resetRefused = ServiceError.invalid(member: "reset_token", detail: "is not valid, or no longer")
}

extension UserChange {
    /// Uses the verification for a new password. A proof of the mailbox verifies it, and makes the password one of its owner.
    fileprivate mutating func useReset(at now: Instant) -> Bool {
        guard var used = verification, used.purpose == .reset, used.userID == user.id,
            VerificationPolicy.follow(&used, isOwn: false, at: now) == .proven
        else { return false }
        if let key = used.email.flatMap(Text.emailKey) {
            // Address and ways may have changed since the mail was asked for; an admin knows the user.
            guard user.profile.email.flatMap(Text.emailKey) == key else { return false }
            let isSole = user.passwordHash != nil && isPasswordSole == true
            guard used.asker == nil || user.profile.provenKey == key || isSole else { return false }
            if used.isMailed {
                user.profile.isEmailVerified = true
                if user.profile.provenKey == key { source = .proof }
            }
        }
        used.endedAt = now
        verification = used
        return true
    }
}

extension Administration {
    /// Makes a one-time link for a new password, which replaces an earlier one of an admin.
    ///
    /// - Parameter mail: the language of the mail with the link, and what it says; nil: no mail is sent, and the caller gives the
    ///   link to the user. Throws a conflict with the code `email_missing` for a user without a mailbox.
    public func requestPasswordReset(
        of reference: UserReference, mailing mail: (language: String, facts: [String: String])? = nil, by origin: Origin
    ) async throws(ServiceError) -> (token: String, expiresAt: Instant) {
        let (now, secrets) = (context.clock.now, context.verificationSecrets)
        if mail != nil, context.mails == nil {
            throw .conflict(code: "mail_not_configured", detail: "this server sends no mails")
        }
        let user = try await user(reference)
        let address = user.profile.email.flatMap(Mailbox.deliverable)
        if mail != nil, address == nil {
            throw .conflict(code: "email_missing", detail: "the user has no mailbox to which mails are sent")
        }
        let verification = Verification(
            id: Identifier(random: context.random), purpose: .reset,
            mailbox: secrets.mailbox(address?.key ?? user.id.description), email: mail == nil ? nil : address?.text,
            userID: user.id, language: mail?.language ?? "", keyID: secrets.keyID, createdAt: now, codeUntil: now,
            linkUntil: now + context.resetTokenLifetime, mails: mail == nil ? 0 : 1, mailedAt: mail == nil ? nil : now)
        guard let token = secrets.token(.prove, of: verification) else { throw .overloaded }
        let queued = mail.map { mail in
            QueuedMail(
                id: Identifier(random: context.random), kind: .reset, userID: user.id, verificationID: verification.id,
                language: mail.language, facts: mail.facts, createdAt: now, expiresAt: verification.linkUntil,
                dueAt: now)
        }
        let event = AuditEvent(.passwordResetRequested, at: now, by: origin, userID: user.id)
        guard try await inStore(await store.beginReset(verification, queued, event)) else { throw .notFound("user") }
        context.mails?.wake()
        return (token, verification.linkUntil)
    }
}

extension Store {
    /// Writes the reset of an admin, which replaces an earlier one. False if the user is gone, or has another mailbox meanwhile.
    fileprivate func beginReset(
        _ reset: Verification, _ mail: QueuedMail?, _ event: AuditEvent
    ) async throws(StoreError) -> Bool {
        guard let userID = reset.userID else { return false }
        return try await write(.accounts(of: [userID])) { (transaction) throws(TransactionError) in
            let (found, open) = (transaction.userForUpdate(.id(userID)), transaction.openVerifications(of: userID))
            guard let user = try found.value(),
                reset.email == nil || user.profile.email.flatMap(Text.emailKey) == reset.email.flatMap(Text.emailKey)
            else { return false }
            for var former in try open.value() where former.purpose == .reset && former.asker == nil {
                former.endedAt = reset.createdAt
                transaction.update(former)
            }
            let written = transaction.insert(reset)
            if let mail { _ = try transaction.insert(mail).value() }
            guard try written.value() else { throw .overtaken }
            transaction.append([event])
            return true
        }
    }
}
