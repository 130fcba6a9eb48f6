/// A mail that is to be sent. It holds no code, no link and no text: all of them are made when it is sent.
public struct QueuedMail: Hashable, Sendable, Identifiable {
    /// The text of a mail.
    public enum Kind: String, CaseIterable, Sendable {
        case signUp = "sign_up"
        case haveAccount = "have_account"
        case signIn = "sign_in"
        case reset
        case resetBySupport = "reset_by_support"
        case emailNew = "email_new"
        case emailOld = "email_old"
        case emailChangedNew = "email_changed_new"
        case emailChangedOld = "email_changed_old"
        case passwordChanged = "password_changed"
        case factorAdded = "factor_added"
        case factorRemoved = "factor_removed"
        case factorBlocked = "factor_blocked"
        case recoveryCodesMade = "recovery_codes_made"
        case recoveryCodeUsed = "recovery_code_used"
        case passkeyAdded = "passkey_added"
        case newDevice = "new_device"
        case loginsPaused = "logins_paused"
        case deletion
        case test
        /// Nothing is sent. A request about an unknown mailbox makes such a mail, so that it costs what a request about a known
        /// one costs.
        case none
    }

    /// The order of mails. Those of each priority have connections of their own, so that a notice never delays a code.
    public enum Priority: CaseIterable, Sendable {
        /// Mails of verifications, which are read at once.
        case codes
        /// All others.
        case notices
    }

    /// Whether the mail is of a verification.
    public var priority: Priority { verificationID == nil ? .notices : .codes }

    /// The id, which is also that of the message.
    public let id: Identifier<QueuedMail>
    /// The text.
    public let kind: Kind
    /// The user that the mail is about.
    public let userID: Identifier<User>?
    /// The verification of which the mail has code and link.
    public let verificationID: Identifier<Verification>?
    /// The address; nil: that of the verification.
    public let email: String?
    /// The language.
    public let language: String
    /// What the text names.
    public let facts: [String: String]
    /// The event of the audit trail that the mail tells.
    public let event: Int64?
    /// The time of the request.
    public let createdAt: Instant
    /// The first instant at which the mail is not sent any more.
    public let expiresAt: Instant
    /// The next attempt; nil: none.
    public var dueAt: Instant?
    /// How many attempts have begun.
    public var tries: Int
    /// The last reply of the relay.
    public var reply: String?

    /// A mail with the values of a row; by default, one that is due at once.
    public init(
        id: Identifier<QueuedMail>, kind: Kind, userID: Identifier<User>? = nil,
        verificationID: Identifier<Verification>? = nil, email: String? = nil, language: String,
        facts: [String: String] = [:], event: Int64? = nil, createdAt: Instant, expiresAt: Instant,
        dueAt: Instant?, tries: Int = 0, reply: String? = nil
    ) {
        (self.id, self.kind, self.userID, self.verificationID) = (id, kind, userID, verificationID)
        (self.email, self.language, self.facts, self.event) = (email, language, facts, event)
        (self.createdAt, self.expiresAt) = (createdAt, expiresAt)
        (self.dueAt, self.tries, self.reply) = (dueAt, tries, reply)
    }
}

/// How many mails there are.
public struct MailCounts: Hashable, Sendable {
    /// Mails of which an attempt follows.
    public let waiting: Int
    /// Mails of which none follows.
    public let dead: Int
    /// The time of the oldest waiting one.
    public let oldest: Instant?

    /// Counts.
    public init(waiting: Int, dead: Int, oldest: Instant?) {
        (self.waiting, self.dead, self.oldest) = (waiting, dead, oldest)
    }
}
