/// The operator's rules for accounts that users make and end by themselves.
public struct AccountRules: Hashable, Sendable {
    /// The mailboxes for which strangers make accounts.
    public enum SignUp: Hashable, Sendable {
        /// None.
        case off
        /// Every mailbox.
        case open
        /// Those of these domains, in lower case.
        case domains([String])

        /// Whether the mailbox with that key (`Text.emailKey`) may have an account.
        func takes(_ emailKey: String) -> Bool {
            switch self {
            case .off: false
            case .open: true
            case .domains(let domains):
                emailKey.lastIndex(of: "@").map { domains.contains(String(emailKey[$0...].dropFirst())) } ?? false
            }
        }
    }

    /// The username of an account that a sign-up makes.
    public enum Usernames: String, CaseIterable, Sendable {
        /// It is the mailbox, and changes with it.
        case mailbox
        /// One that the user chooses, which has no `@`.
        case chosen
    }

    /// The mailboxes for which strangers make accounts, by the clients that allow it.
    public var signUp = SignUp.off
    /// The username of a new account.
    public var usernames = Usernames.mailbox
    /// How long an account goes on that its user has deleted; zero: it does not.
    public var deletionDelay = Duration.seconds(7 * 86_400)
    /// The bounds of proofs of mailboxes.
    public var verifications = VerificationPolicy()

    /// The default rules.
    public init() {}

    /// Whether strangers can make an account by that client; nil: by a page of the server without a client.
    public func takesSignUps(for client: Client?) -> Bool { signUp != .off && client?.signUp ?? true }
}
