/// What a browser carries between the pages on which a mailbox is proven. It is sealed, because the mailbox shall stand in no URL
/// and in no log, and because a page shows the mailbox as it was typed, whether an account has it or not.
public struct CarriedVerification: Codable, Hashable, Sendable {
    /// The verification.
    public var id: String
    /// What the mailbox is proven for.
    public var purpose: String
    /// The mailbox as it was typed.
    public var email: String
    /// The name of the browser that asked: SHA-256 of its flow cookie, in base64url.
    public var browser: String
    /// The login that waits for the proof; nil: none.
    public var login: CarriedRequest?

    /// What a browser carries for a verification.
    public init(
        _ id: Identifier<Verification>, _ purpose: Verification.Purpose, email: String, browser: String,
        login: CarriedRequest?
    ) {
        (self.id, self.purpose, self.email) = (id.description, purpose.rawValue, email)
        (self.browser, self.login) = (browser, login)
    }
}
