/// A proof of a mailbox that is under way. Code and link are derived from the id (`VerificationSecrets`), and are not stored.
public struct Verification: Hashable, Sendable, Identifiable {
    /// The act for which a mailbox is proven.
    public enum Purpose: String, CaseIterable, Sendable {
        /// A stranger makes an account.
        case signUp = "sign_up"
        /// A user logs in by a code.
        case signIn = "sign_in"
        /// A user replaces a forgotten password.
        case reset
        /// A user changes the e-mail address.
        case email
    }

    /// The id, from which code and link are derived.
    public let id: Identifier<Verification>
    /// The act that the proof allows.
    public let purpose: Purpose
    /// The keyed hash of the address in lower case.
    public let mailbox: [UInt8]
    /// The address as it is written to; nil: nothing is written to it.
    public let email: String?
    /// The user; nil for a sign-up, and if no user has the mailbox.
    public let userID: Identifier<User>?
    /// The app that asked; nil: an admin.
    public let clientID: String?
    /// SHA-256 of the secret of the browser, app or session that asked; nil: an admin.
    public let asker: [UInt8]?
    /// The session that changes its user's address.
    public let sessionID: Identifier<Session>?
    /// The language of the mail.
    public let language: String
    /// The root key from which code and link are derived.
    public let keyID: UInt8
    /// The time of the request.
    public let createdAt: Instant
    /// The first instant at which the code is invalid.
    public var codeUntil: Instant
    /// The first instant at which the link is invalid.
    public var linkUntil: Instant
    /// How many mails were requested.
    public var mails: Int
    /// The time of the last of them.
    public var mailedAt: Instant?
    /// How many wrong codes were tried.
    public var wrongCodes: Int
    /// The time of the proof; nil: not yet.
    public var provenAt: Instant?
    /// The time at which the verification was used, cancelled, replaced or out of tries; nil: it is open.
    public var endedAt: Instant?

    /// A verification with the values of a row.
    public init(
        id: Identifier<Verification>, purpose: Purpose, mailbox: [UInt8], email: String?,
        userID: Identifier<User>? = nil, clientID: String? = nil, asker: [UInt8]? = nil,
        sessionID: Identifier<Session>? = nil, language: String, keyID: UInt8, createdAt: Instant, codeUntil: Instant,
        linkUntil: Instant, mails: Int = 0, mailedAt: Instant? = nil, wrongCodes: Int = 0, provenAt: Instant? = nil,
        endedAt: Instant? = nil
    ) {
        (self.id, self.purpose, self.mailbox, self.email) = (id, purpose, mailbox, email)
        (self.userID, self.clientID, self.asker, self.sessionID) = (userID, clientID, asker, sessionID)
        (self.language, self.keyID, self.createdAt) = (language, keyID, createdAt)
        (self.codeUntil, self.linkUntil) = (codeUntil, linkUntil)
        (self.mails, self.mailedAt, self.wrongCodes) = (mails, mailedAt, wrongCodes)
        (self.provenAt, self.endedAt) = (provenAt, endedAt)
    }
}

/// What was sent to a mailbox and guessed for it within a day, counted once for all nodes.
public struct MailboxBudget: Hashable, Sendable {
    /// The keyed hash of the address in lower case.
    public let mailbox: [UInt8]
    /// The beginning of the day of the counts.
    public var since: Instant
    /// How many mails were requested.
    public var mails: Int
    /// How many wrong codes were tried.
    public var wrongCodes: Int
    /// The time at which a relay refused the mailbox; nil: never.
    public var refusedAt: Instant?
    /// The reply of that relay.
    public var reply: String?

    /// A budget with the values of a row; by default, of a new one.
    public init(
        mailbox: [UInt8], since: Instant, mails: Int = 0, wrongCodes: Int = 0, refusedAt: Instant? = nil,
        reply: String? = nil
    ) {
        (self.mailbox, self.since, self.mails, self.wrongCodes) = (mailbox, since, mails, wrongCodes)
        (self.refusedAt, self.reply) = (refusedAt, reply)
    }
}
