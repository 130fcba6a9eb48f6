/// The proof of a mailbox that is under way: the server has sent a mail with a code, and the app asks the user for it.
///
/// It is stored beside the session, so that it survives a new start of the app: `Sojourn.verification(for:)` returns it. A mailbox
/// without a user, or with one, makes no difference here: what the mail says does.
public struct Verification: Sendable, Identifiable {
    /// What the proof is for.
    public enum Purpose: String, Hashable, Sendable, CaseIterable {
        /// A new account.
        case signUp = "sign_up"
        /// A login by a code.
        case signIn = "sign_in"
        /// A new password in place of a forgotten one.
        case reset
    }

    /// The ID at the server.
    public let id: String
    /// What the proof is for.
    public let purpose: Purpose
    /// The mailbox, as the app has given it.
    public let email: String
    /// How many digits the code has.
    public let codeLength: Int
    /// When the code expires, in Unix seconds of the server.
    public let expiresAt: Int64
    /// From when another mail can be sent, in Unix seconds of the server.
    public let resendAfter: Int64
    /// Whether the server has taken the code, so that only the last call of the purpose is left.
    public let isProven: Bool
    let sojourn: Sojourn

    init(_ stored: StoredVerification, _ answer: StoredVerification.Answer, of sojourn: Sojourn) {
        (id, purpose, email) = (answer.id, stored.purpose, stored.email)
        (codeLength, expiresAt, resendAfter) = (answer.codeLength, answer.expiresAt, answer.resendAfter)
        isProven = stored.isProven
        self.sojourn = sojourn
    }

    /// Shows the server the code of the mail. Blanks and hyphens in it do not matter. `Sojourn.signIn(code:)` does it by itself.
    ///
    /// Throws `refused` with the code `invalid_code` and `attemptsLeft`, or with `verification_over`: begin anew then.
    @discardableResult
    public func confirm(code: String) async throws(SojournError) -> Verification {
        try await sojourn.confirm(self, code: code)
    }

    /// Has the mail sent once more, with the same code. Earlier than `resendAfter` nothing is sent.
    @discardableResult
    public func resend() async throws(SojournError) -> Verification { try await sojourn.resend(self) }

    /// Gives the proof up on this device: a later call for the same mailbox is another one.
    public func cancel() async throws(SojournError) { try await sojourn.forget(self) }
}

extension Verification: Hashable {
    /// Whether both describe the same state of the same proof.
    public static func == (one: Verification, other: Verification) -> Bool {
        one.id == other.id && one.purpose == other.purpose && one.email == other.email
            && one.codeLength == other.codeLength && one.expiresAt == other.expiresAt
            && one.resendAfter == other.resendAfter && one.isProven == other.isProven
    }

    /// Hashes the ID.
    public func hash(into hasher: inout Hasher) { hasher.combine(id) }
}
