/// The rules for proofs of mailboxes. Every decision is a pure function of the row, the mailbox's budget and the time, and is made
/// inside the transaction that writes both.
public struct VerificationPolicy: Hashable, Sendable {
    /// How long a code is valid (ASVS 6.5.5).
    public static let codeLifetime = Duration.seconds(600)
    /// How long the link of a mail is valid, except at a login.
    public static let linkLifetime = Duration.seconds(3600)
    /// The pause between two mails of one verification.
    public static let resendPause = Duration.seconds(60)
    /// How many wrong codes end a verification.
    public static let wrongCodesMax = 5
    /// How many taken usernames end a sign-up.
    public static let takenNamesMax = 10
    /// The time of one budget of a mailbox.
    public static let day = Duration.seconds(86_400)
    /// How long a mailbox gets no mail after its owner has cancelled a verification.
    static let rest = Duration.seconds(3600)

    /// How many mails one mailbox gets in a day.
    public var mailsPerDay = 10
    /// How many more it gets for a browser or device that has signed in to it.
    public static let mailsForKnown = 5
    /// How many wrong codes strangers may try for one mailbox in a day.
    public var wrongCodesPerDay = 50
    /// How many verifications the database may hold.
    public var countMax = 50_000

    /// The default rules.
    public init() {}
}

/// What a request for a mail does.
public enum VerificationRequestDecision: Hashable, Sendable {
    /// The open verification goes on, with another mail of the same code if `isMailed`.
    case goesOn(isMailed: Bool)
    /// A new verification begins, and ends the open one if there is one.
    case begins(isMailed: Bool)
}

/// What a code or a link proves.
public enum VerificationDecision: Hashable, Sendable {
    /// The mailbox.
    case proven
    /// Nothing: the code is wrong. The number of tries that are left.
    case wrong(left: Int)
    /// Nothing: the verification is over.
    case over
    /// Nothing at present: the mailbox has had too many wrong codes.
    case tooMany(retryAfter: Duration)
}

extension VerificationPolicy {
    /// The end of the link of a new verification.
    static func linkEnd(of purpose: Verification.Purpose, at now: Instant) -> Instant {
        now + (purpose == .signIn ? codeLifetime : linkLifetime)
    }

    /// Decides on a request for a mail, and counts the mail.
    ///
    /// - Parameters:
    ///   - open: the open verification of the same asker, mailbox and purpose; it gets the mail if it goes on.
    ///   - isKnown: whether the asker has signed in to the mailbox's account before.
    public func request(
        _ open: inout Verification?, _ budget: inout MailboxBudget, isKnown: Bool, at now: Instant
    ) -> VerificationRequestDecision {
        guard var running = open, running.endedAt == nil, running.provenAt == nil, now < running.codeUntil else {
            open?.endedAt = now
            return .begins(isMailed: admitsMail(&budget, isKnown: isKnown, at: now))
        }
        let isDue = running.mailedAt.map { now - $0 >= Self.resendPause } ?? true
        guard isDue, admitsMail(&budget, isKnown: isKnown, at: now) else { return .goesOn(isMailed: false) }
        running.mails += 1
        running.mailedAt = now
        open = running
        return .goesOn(isMailed: true)
    }

    /// Whether the mailbox may get another mail, which is counted then.
    private func admitsMail(_ budget: inout MailboxBudget, isKnown: Bool, at now: Instant) -> Bool {
        if budget.isResting(at: now) { return false }
        budget.beginDay(at: now)
        let isAdmitted =
            isKnown
            ? budget.mails < mailsPerDay + Self.mailsForKnown
            : budget.mails < mailsPerDay && budget.wrongCodes < wrongCodesPerDay
        if isAdmitted { budget.mails += 1 }
        return isAdmitted
    }

    /// When the next mail can follow the last one of a verification, or the next one of its mailbox.
    public func nextMail(of verification: Verification, _ budget: MailboxBudget, at now: Instant) -> Instant {
        let isExhausted = now < budget.since + Self.day && budget.mails >= mailsPerDay
        let pause = verification.mailedAt.map { $0 + Self.resendPause } ?? now + Self.resendPause
        if isExhausted { return max(pause, budget.since + Self.day) }
        return budget.isResting(at: now) ? max(pause, budget.since) : pause
    }

    /// Decides on a typed code, and counts a wrong one.
    ///
    /// - Parameter isRight: whether the code is that of the verification, whatever its state.
    public func check(
        _ verification: inout Verification, _ budget: inout MailboxBudget, isRight: Bool, at now: Instant
    ) -> VerificationDecision {
        if verification.endedAt != nil || now >= verification.codeUntil { return .over }
        if verification.provenAt != nil { return isRight ? .proven : .over }
        budget.beginDay(at: now)
        if !verification.isOfKnown, budget.wrongCodes >= wrongCodesPerDay {
            return .tooMany(retryAfter: budget.since + Self.day - now)
        }
        if isRight, verification.isMailed {
            verification.prove(at: now)
            return .proven
        }
        verification.wrongCodes += 1
        // A code that no mail has cannot be guessed, and must not use up the tries of the mailbox.
        if verification.mails > 0 { budget.wrongCodes += 1 }
        if verification.wrongCodes >= Self.wrongCodesMax { verification.endedAt = now }
        return .wrong(left: Self.wrongCodesMax - verification.wrongCodes)
    }

    /// Decides on a link of a mail, which was found genuine.
    ///
    /// - Parameter isOwn: whether the browser or app is the one that asked. The link of a reset works everywhere, because it
    ///   signs in nowhere.
    public static func follow(
        _ verification: inout Verification, isOwn: Bool, at now: Instant
    ) -> VerificationDecision {
        guard verification.endedAt == nil, now < verification.usableUntil else { return .over }
        guard isOwn || verification.purpose == .reset, verification.isMailed || verification.asker == nil else {
            return .over
        }
        verification.prove(at: now)
        return .proven
    }
}

extension Verification {
    /// Whether the asker has signed in to the mailbox's account before. The session of a change shows only the asker, and the
    /// mailbox is one of a stranger.
    var isOfKnown: Bool { purpose != .email && sessionID != nil }

    /// Whether a mail with its code was requested. Without one no code proves the mailbox.
    var isMailed: Bool { email != nil && mails > 0 }

    /// The first instant at which the act that the proof allows is refused.
    public var usableUntil: Instant {
        max(linkUntil, provenAt.map { $0 + VerificationPolicy.codeLifetime } ?? linkUntil)
    }

    /// Whether the act that the proof allows can be done at `now`.
    func isUsable(at now: Instant) -> Bool { endedAt == nil && provenAt != nil && now < usableUntil }

    /// Notes the proof, the first time. From then on `wrongCodes` counts taken usernames.
    fileprivate mutating func prove(at now: Instant) {
        if provenAt != nil { return }
        provenAt = now
        wrongCodes = 0
    }

    /// Counts a username that is taken, of a sign-up.
    mutating func countTakenName(at now: Instant) {
        wrongCodes += 1
        if wrongCodes >= VerificationPolicy.takenNamesMax { endedAt = now }
    }

    /// The state at `now`, for a page that waits.
    func state(at now: Instant) -> VerificationState {
        if isUsable(at: now) { return .proven }
        return endedAt == nil && provenAt == nil && now < max(codeUntil, linkUntil) ? .open : .over
    }
}

extension MailboxBudget {
    /// Begins a new day, if the last one is over at `now`.
    mutating func beginDay(at now: Instant) {
        guard now >= since + VerificationPolicy.day else { return }
        (since, mails, wrongCodes) = (now, 0, 0)
    }

    /// Lets the mailbox get no mail for a while, as its owner wishes: the day begins again after that, with the counts as they are.
    mutating func rest(at now: Instant) { since = now + VerificationPolicy.rest }

    /// Whether the mailbox gets no mail at `now`, as its owner wishes.
    func isResting(at now: Instant) -> Bool { now < since }
}

/// The state of a verification, for a page that waits.
public enum VerificationState: String, CaseIterable, Sendable {
    /// The code can be typed, or the link pressed.
    case open
    /// The mailbox is proven, and the act that the proof allows can follow.
    case proven
    /// Nothing can follow.
    case over
}
