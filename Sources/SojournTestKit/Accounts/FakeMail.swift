/// A mail that `FakeServer` has sent. The real server sends one with these words at the same moment.
public struct FakeMail: Hashable, Sendable {
    /// The mailbox, as it was typed.
    public let to: String
    /// The kind, in the server's word: `sign_up`, `have_account`, `sign_in`, `reset`, `email_new`, `password_changed` and others.
    public let kind: String
    /// The code, if the mail has one.
    public let code: String?
}

/// A proof of a mailbox at `FakeServer`. Times are milliseconds since 1970.
struct FakeVerification {
    static let codeLifetime: Int64 = 600_000
    static let linkLifetime: Int64 = 3_600_000
    static let resendPause: Int64 = 60_000
    static let wrongCodesMax = 5

    var id: String
    var purpose: String
    /// The address in lower case.
    var mailbox: String
    /// The address that the code goes to; nil: to none, and no code proves the mailbox.
    var email: String?
    /// What the app proves itself with, or the session that changes its address.
    var asker: String
    var userID: String?
    var code: String
    var createdAt: Int64
    var mailedAt: Int64?
    var wrongCodes = 0
    var provenAt: Int64?
    var isOver = false

    var codeUntil: Int64 { createdAt + Self.codeLifetime }
    var usableUntil: Int64 {
        max(
            createdAt + (purpose == "sign_in" ? Self.codeLifetime : Self.linkLifetime),
            provenAt.map { $0 + Self.codeLifetime } ?? 0)
    }

    func isUsable(at now: Int64) -> Bool { !isOver && provenAt != nil && now < usableUntil }
}

/// An authenticator app of a user of `FakeServer`. Times are milliseconds since 1970.
struct FakeAuthenticator {
    static let confirmationLifetime: Int64 = 600_000

    var id: String
    var userID: String
    var name: String
    var secret: String
    var createdAt: Int64
    var confirmedAt: Int64?
    var lastUsedAt: Int64?
    /// The last time step of which a code was taken.
    var lastStep: Int64 = 0
}
