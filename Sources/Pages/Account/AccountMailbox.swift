/// The mailbox of an account, as the page of its security shows it.
public struct AccountMailbox: Hashable, Sendable {
    /// The mailbox; nil: the account has none.
    public var email: String?
    /// Whether it is verified.
    public var isVerified: Bool
    /// The mailbox before, which can take back the change until that time, in seconds since 1970; nil: there is none.
    public var former: Former?

    /// A mailbox that was the account's until a while ago.
    public struct Former: Hashable, Sendable {
        /// The mailbox.
        public var email: String
        /// When it can no longer take back the change.
        public var until: Int64

        /// A former mailbox.
        public init(email: String, until: Int64) { (self.email, self.until) = (email, until) }
    }

    /// A mailbox.
    public init(email: String?, isVerified: Bool, former: Former? = nil) {
        self.email = email
        self.isVerified = isVerified
        self.former = former
    }

    func section(_ words: any Words) -> HTML {
        let badge: HTML? = isVerified ? " <span class=\"badge\">\(words.mailboxConfirmed)</span>" : nil
        let present: HTML? = email.map { "<p><strong>\(DisplayName($0, max: 120))</strong>\(badge)</p>\n" }
        let past: HTML? = former.map {
            """
            <p>\(words.formerMailbox(DisplayName($0.email, max: 120))) \(Controls.time($0.until, words))</p>

            """
        }
        return """
            <section><h2>\(words.profileMember(.email))</h2>
            <p>\(words.mailboxChangeBody)</p>
            \(present)\(past)\(Controls.linkButton(PageURL(.accountEmail), "\(words.mailboxTitle(.email))", .secondary))</section>

            """
    }
}

extension SecurityPage {
    func deletion(_ words: any Words) -> HTML? {
        guard offersDeletion else { return nil }
        return """
            <section><h2>\(words.deleteAccount)</h2>
            <p>\(words.deletionLead)</p>
            \(Controls.linkButton(PageURL(.accountDelete), "\(words.deleteAccount)", .danger))</section>
            """
    }
}
