/// What became of a mail.
public enum MailOutcome: String, CaseIterable, Hashable, Sendable {
    /// The relay has it.
    case sent
    /// It is tried again.
    case again
    /// The mailbox does not exist, or refuses the mail. No attempt follows.
    case refused
    /// The relay refuses the content. No attempt follows.
    case dead
    /// It was not sent in time, and is deleted.
    case expired
    /// What it is about is over, and it is deleted.
    case obsolete
    /// The relay takes no mail at all, so that the mail waits and no attempt is counted.
    case held
}

/// The answer of a relay, by what follows from it.
public enum MailReply: Hashable, Sendable {
    /// The relay is responsible for the mail from now on.
    case taken
    /// No mail will reach this address.
    case mailboxRefused(String)
    /// This mail will never be taken.
    case contentRefused(String)
    /// Another attempt may succeed.
    case notYet(String)
    /// The relay has the mail, or not: each attempt may make a further copy.
    case inDoubt(String)
    /// The relay takes no mail at present, whatever its mailbox and content.
    case relayFails(String)

    /// The reply in words; nil: the mail is taken.
    public var text: String? {
        switch self {
        case .taken: nil
        case .mailboxRefused(let text), .contentRefused(let text), .notYet(let text), .inDoubt(let text),
            .relayFails(let text):
            text
        }
    }
}

/// The decisions about mails before and after an attempt.
public enum MailPolicy {
    /// The pauses after the first, second … attempt.
    static let pauses: [Int64] = [10, 30, 60, 120, 300, 600]
    /// The attempt after which a mail in doubt gets no further one, because each may have made a copy.
    static let doubtfulTriesMax = 4
    /// How long nothing but codes is sent to a mailbox that a relay has refused.
    static let noticeRest = Duration.seconds(7 * 86_400)
    /// How long no code is sent to it.
    static let codeRest = Duration.seconds(3600)
    /// How long a mail without a further attempt is kept.
    public static let deadKept = Duration.seconds(7 * 86_400)

    /// Why a mail is not sent; nil: it is sent.
    static func hindrance(
        of mail: QueuedMail, _ verification: Verification?, _ budget: MailboxBudget?, at now: Instant
    ) -> MailOutcome? {
        if mail.kind == .none { return .obsolete }
        if mail.verificationID != nil {
            guard let verification, verification.endedAt == nil, verification.provenAt == nil else { return .obsolete }
            // A code that does not work any more is never sent. A request of an admin has no place where a code is typed.
            let hasCode = mail.kind.hasCode && verification.asker != nil
            guard now < (hasCode ? verification.codeUntil : verification.linkUntil) else { return .obsolete }
        }
        if now >= mail.expiresAt { return .expired }
        let rest = mail.priority == .codes ? codeRest : noticeRest
        if let refusedAt = budget?.refusedAt, now < refusedAt + rest { return .refused }
        return nil
    }

    /// The outcome of an attempt, and the mail as it is then; nil: it is deleted.
    ///
    /// - Parameter held: when the relay is tried again, if it takes no mail at all.
    static func outcome(
        of mail: QueuedMail, _ reply: MailReply, at now: Instant, heldUntil held: Instant
    ) -> (MailOutcome, QueuedMail?) {
        var mail = mail
        mail.reply = reply.text
        switch reply {
        case .taken: return (.sent, nil)
        case .mailboxRefused, .contentRefused:
            mail.dueAt = nil
            if case .mailboxRefused = reply { return (.refused, mail) }
            return (.dead, mail)
        case .inDoubt where mail.tries >= doubtfulTriesMax:
            mail.dueAt = nil
            return (.dead, mail)
        case .notYet, .inDoubt:
            mail.dueAt = now + .seconds(pauses[min(max(mail.tries, 1), pauses.count) - 1])
            return (.again, mail)
        case .relayFails:
            mail.tries -= 1
            mail.dueAt = held
            return (.held, mail)
        }
    }
}

extension DeliveryState {
    /// The name under which the failures of mails are noted. No webhook has it.
    public static let mails = "mail:"
}

extension QueuedMail.Kind {
    /// The kinds with a text: all but that of a mail which is never sent.
    public static let withText = allCases.filter { $0 != .none }

    /// Whether the mail has a code.
    public var hasCode: Bool {
        switch self {
        case .signUp, .signIn, .reset, .emailNew: true
        case .haveAccount, .resetBySupport, .emailOld, .emailChangedNew, .emailChangedOld, .passwordChanged,
            .factorAdded, .factorRemoved, .factorBlocked, .recoveryCodesMade, .recoveryCodeUsed, .passkeyAdded,
            .newDevice, .loginsPaused, .deletion, .test, .none:
            false
        }
    }
}
