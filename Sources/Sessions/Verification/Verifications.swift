// Verifications: requests for a mail, codes, links, and what ends them. The address decides on no request, only on what the rows say.

/// A request for a proof of a mailbox, as the store executes it: what is random or secret is made before the transaction, which may
/// run more than once.
struct VerificationInquiry: Sendable {
    /// What shows that the asker has signed in to the mailbox's account before.
    enum KnownPlace: Sendable {
        case session(Identifier<Session>)
        case device(String)
    }

    /// A change of the address of a user.
    struct Change: Sendable {
        let userID: Identifier<User>
        let sessionID: Identifier<Session>
        /// The verified address, which is told of the request; nil: there is none.
        let former: String?
        /// The row of the notice that is sent there.
        let formerMailID: Identifier<QueuedMail>
    }

    /// The act for which the mailbox is proven.
    let purpose: Verification.Purpose
    /// The address as it was typed.
    let email: String
    /// Its key (`Text.emailKey`).
    let emailKey: String
    /// The keyed hash of that key.
    let mailbox: [UInt8]
    /// The app.
    let clientID: String?
    /// The browser, app or session for which the proof counts.
    let asker: VerificationAsker
    /// The language of the mail.
    let language: String
    /// The ids of a new verification, and of its mail, and that of no user.
    let ids: (verification: Identifier<Verification>, mail: Identifier<QueuedMail>, noUser: Identifier<User>)
    /// The root key of a new verification.
    let keyID: UInt8
    /// What shows that the asker is known; nil: nothing.
    let place: KnownPlace?
    /// A change of the address; nil for every other purpose.
    var change: Change?
    /// Whether strangers make accounts for the mailbox.
    let takesSignUp: Bool
    /// What the mail says of the request.
    let facts: [String: String]
    /// The time.
    let now: Instant
}

/// The account that a request is about, and what its mail says.
struct VerificationSubject: Sendable {
    /// The user; nil: none.
    let user: User?
    /// The text of the mail.
    let kind: QueuedMail.Kind
    /// Whether the mail has code and link, which prove the mailbox.
    let isProvable: Bool
}

/// The result of a request for a proof.
struct VerificationInquiryAnswer: Sendable {
    /// The row as it was found or written.
    let verification: Verification
    /// The time from which another mail can be sent.
    let resendAt: Instant
}

/// The rows that tell the account of a mailbox, as they are requested.
private struct RequestedSubject {
    let owners: Answer<[User]>
    let namesakes: Answer<[User]>?
}

extension Store {
    /// Begins a verification, or sends the mail of the open one again. Every mailbox costs the same requests and writes: what is
    /// not there is looked for by the id of no user, and a mail of the kind `none` is sent by no sender. Nil: the database holds
    /// as many verifications as it may.
    func ask(
        _ inquiry: VerificationInquiry, by policy: VerificationPolicy, from origin: Origin
    ) async throws(StoreError) -> VerificationInquiryAnswer? {
        try await write(.nothing) { (transaction) throws(TransactionError) in
            try transaction.ask(inquiry, by: policy, from: origin)
        }
    }

    /// Lets `change` edit a verification and the budget of its mailbox. Nil if there is no such verification.
    func updateVerification<Outcome: Sendable>(
        _ id: Identifier<Verification>, at now: Instant,
        _ change: @escaping @Sendable (inout VerificationChange) -> Outcome
    ) async throws(StoreError) -> Outcome? {
        try await write(.nothing) { (transaction) throws(TransactionError) in
            guard let old = try transaction.verificationForUpdate(id).value() else { return nil }
            let budget = try transaction.mailboxBudgetForUpdate(old.mailbox, at: now).value()
            var edited = VerificationChange(verification: old, budget: budget)
            let outcome = change(&edited)
            if edited.verification != old { transaction.update(edited.verification) }
            if edited.budget != budget { transaction.write(edited.budget) }
            if let mail = edited.mail { _ = try transaction.insert(mail).value() }
            transaction.append(edited.events)
            return outcome
        }
    }

    /// The verification with that id; nil if there is none.
    func verification(_ id: Identifier<Verification>) async throws(StoreError) -> Verification? {
        try await read(.short) { (reader) throws(TransactionError) in try reader.verification(id).value() }
    }

    /// The open verifications of a user.
    func openVerifications(of userID: Identifier<User>) async throws(StoreError) -> [Verification] {
        try await read(.short) { (reader) throws(TransactionError) in
            try reader.openVerifications(of: userID).value()
        }
    }

    /// Deletes up to `limit` verifications a day after their link has ended, and as many budgets of mailboxes that are over.
    /// Returns the larger number.
    public func sweepVerifications(at now: Instant, limit: Int) async throws(StoreError) -> Int {
        try await write(.nothing) { (transaction) throws(TransactionError) in
            let day = VerificationPolicy.day
            let verifications = transaction.deleteVerifications(endedBefore: now + (.zero - day), limit: limit)
            let budgets = transaction.deleteMailboxBudgets(
                before: now + (.zero - day), refusedBefore: now + (.zero - day * 30), limit: limit)
            return max(try verifications.value(), try budgets.value())
        }
    }
}

/// A change of a verification and of the budget of its mailbox, inside a transaction.
struct VerificationChange: Sendable {
    /// The verification, which the closure edits.
    var verification: Verification
    /// The budget, which the closure edits.
    var budget: MailboxBudget
    /// The mail to send; nil: none.
    var mail: QueuedMail?
    /// The audit events of the same transaction.
    var events: [AuditEvent] = []
}

extension StoreTransaction {
    /// See `Store.ask`.
    func ask(
        _ inquiry: VerificationInquiry, by policy: VerificationPolicy, from origin: Origin
    ) throws(TransactionError) -> VerificationInquiryAnswer? {
        let now = inquiry.now
        let requested = request(inquiry)
        let open = openVerificationForUpdate(inquiry.purpose, of: inquiry.mailbox, by: inquiry.asker.digest)
        let counted = mailboxBudgetForUpdate(inquiry.mailbox, at: now)
        let count = openVerificationCount(at: now, max: policy.countMax)
        let subject = try subject(of: inquiry, requested)
        let isKnown = try isKnown(inquiry, to: subject)
        var (former, budget) = (try open.value(), try counted.value())
        let old = former
        let decision = policy.request(&former, &budget, isKnown: isKnown, at: now)
        var verification: Verification
        let isMailed: Bool
        switch decision {
        case .goesOn(let isDue):
            guard let former else { throw .corrupted("a verification that does not exist goes on") }
            (verification, isMailed) = (former, isDue)
            update(former)
        case .begins(let isDue):
            if try count.value() >= policy.countMax { return nil }
            if let former, let old, former != old { update(former) }
            try endOthers(of: inquiry)
            (verification, isMailed) = (inquiry.verification(of: subject, isKnown: isKnown, isMailed: isDue), isDue)
            guard try insert(verification).value() else { throw .overtaken }
        }
        write(budget)
        let mail = inquiry.mail(about: subject, of: verification, isMailed: isMailed)
        var mails = [mail]
        if case .begins = decision, let notice = inquiry.notice(of: verification) { mails.append(notice) }
        for mail in mails {
            guard try insert(mail).value() else { throw .corrupted("a mail without an event exists") }
        }
        append([inquiry.event(about: subject, from: origin)])
        return VerificationInquiryAnswer(
            verification: verification, resendAt: policy.nextMail(of: verification, budget, at: now))
    }

    /// Ends the user's other changes of the address, so that the last request counts.
    private func endOthers(of inquiry: VerificationInquiry) throws(TransactionError) {
        guard let change = inquiry.change else { return }
        for var other in try openVerifications(of: change.userID).value()
        where other.purpose == .email && other.mailbox != inquiry.mailbox {
            other.endedAt = inquiry.now
            update(other)
        }
    }

    /// Requests the users with the mailbox. A reset also asks for those that have not verified it.
    private func request(_ inquiry: VerificationInquiry) -> RequestedSubject {
        RequestedSubject(
            owners: owner(ofMailbox: inquiry.emailKey),
            namesakes: inquiry.purpose == .reset ? users(withEmail: inquiry.emailKey, limit: 2) : nil)
    }

    /// The account that the request is about. A mailbox that no user has verified leads to an account only if exactly one has it,
    /// and that user has a password and nothing else: the maker of the account loses it by the proof.
    private func subject(
        of inquiry: VerificationInquiry, _ requested: RequestedSubject
    ) throws(TransactionError) -> VerificationSubject {
        let owner = try requested.owners.value().first
        let namesakes = try requested.namesakes?.value() ?? []
        switch inquiry.purpose {
        case .signUp:
            return VerificationSubject(
                user: owner, kind: owner == nil ? .signUp : .haveAccount, isProvable: owner == nil)
        case .email:
            let isFree = owner.map { $0.id == inquiry.change?.userID } ?? true
            return VerificationSubject(user: owner, kind: isFree ? .emailNew : .haveAccount, isProvable: isFree)
        case .signIn:
            guard let owner else {
                let kind = inquiry.takesSignUp ? QueuedMail.Kind.signUp : .none
                return VerificationSubject(user: nil, kind: kind, isProvable: inquiry.takesSignUp)
            }
            let isBarred = owner.disabledByAdmin != nil
            return VerificationSubject(user: owner, kind: isBarred ? .none : .signIn, isProvable: !isBarred)
        case .reset:
            let meant = owner ?? (namesakes.count == 1 ? namesakes[0] : nil)
            let ways = access(to: meant?.id ?? inquiry.ids.noUser, at: inquiry.now)
            let factors = totpFactors(of: meant?.id ?? inquiry.ids.noUser)
            let (access, hasFactor) = (try ways.value(), try !factors.value().isEmpty)
            guard let meant else {
                return VerificationSubject(
                    user: nil, kind: namesakes.isEmpty ? .none : .resetBySupport, isProvable: false)
            }
            if meant.disabledByAdmin != nil { return VerificationSubject(user: meant, kind: .none, isProvable: false) }
            let isSole = access.map { $0.identities.isEmpty && !$0.hasPasskey } ?? false
            let isMeant = owner != nil || (meant.passwordHash != nil && isSole && !hasFactor)
            return VerificationSubject(user: meant, kind: isMeant ? .reset : .resetBySupport, isProvable: isMeant)
        }
    }

    /// Whether the asker has signed in to the account before.
    private func isKnown(
        _ inquiry: VerificationInquiry, to subject: VerificationSubject
    ) throws(TransactionError) -> Bool {
        if let change = inquiry.change { return subject.user?.id == change.userID }
        switch inquiry.place {
        case .session(let id)?: return try session(id).value().map { $0.userID == subject.user?.id } ?? false
        case .device(let id)?:
            return try !sessions(of: subject.user?.id ?? inquiry.ids.noUser, onDevice: id).value().isEmpty
        case nil: return false
        }
    }
}

extension VerificationInquiry {
    /// The new verification.
    fileprivate func verification(
        of subject: VerificationSubject, isKnown: Bool, isMailed: Bool
    ) -> Verification {
        Verification(
            id: ids.verification, purpose: purpose, mailbox: mailbox, email: subject.isProvable ? email : nil,
            userID: change?.userID ?? (subject.isProvable ? subject.user?.id : nil), clientID: clientID,
            asker: asker.digest, sessionID: change?.sessionID ?? knownSession(isKnown), language: language,
            keyID: keyID, createdAt: now, codeUntil: now + VerificationPolicy.codeLifetime,
            linkUntil: VerificationPolicy.linkEnd(of: purpose, at: now), mails: isMailed ? 1 : 0,
            mailedAt: isMailed ? now : nil)
    }

    /// What marks a verification as one of a known browser or device: the session, or the id of none.
    private func knownSession(_ isKnown: Bool) -> Identifier<Session>? {
        guard isKnown else { return nil }
        if case .session(let id)? = place { return id }
        return Identifier(words: (high: 0, low: 0))
    }

    /// The mail. Without one to send its kind is `none`, so that the request costs as much.
    fileprivate func mail(
        about subject: VerificationSubject, of verification: Verification, isMailed: Bool
    ) -> QueuedMail {
        let hasMail = isMailed && subject.kind != .none
        return QueuedMail(
            id: ids.mail, kind: hasMail ? subject.kind : .none, userID: subject.user?.id,
            verificationID: verification.id, email: hasMail ? email : nil, language: language,
            facts: facts, createdAt: now, expiresAt: verification.codeUntil, dueAt: now)
    }

    /// The mail that tells the former mailbox of a change, with a link that cancels it.
    fileprivate func notice(of verification: Verification) -> QueuedMail? {
        guard let change, let former = change.former else { return nil }
        return QueuedMail(
            id: change.formerMailID, kind: .emailOld, userID: change.userID, verificationID: verification.id,
            email: former, language: language, facts: facts.merging(["new": email]) { $1 }, createdAt: now,
            expiresAt: verification.linkUntil, dueAt: now)
    }

    /// The event of the request.
    fileprivate func event(about subject: VerificationSubject, from origin: Origin) -> AuditEvent {
        AuditEvent(
            purpose == .reset && subject.kind == .reset ? .passwordResetRequested : .verificationRequested,
            at: now, by: origin, userID: change?.userID ?? subject.user?.id, sessionID: change?.sessionID,
            clientID: clientID, reason: purpose.rawValue)
    }
}
