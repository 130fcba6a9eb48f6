/// Another mailbox of the user, before its proof. It is no secret: an app may store it, so that a new start shows where the
/// user was.
public struct EmailChange: Hashable, Sendable, Codable {
    /// The mailbox, as the app has given it.
    public let email: String
    /// How many digits the code has.
    public let codeLength: Int
    /// When the code expires, in Unix seconds of the server.
    public let expiresAt: Int64
    /// From when another call sends the mail once more, in Unix seconds of the server.
    public let resendAfter: Int64
}

extension Sojourn {
    /// Begins the change to another mailbox: the server sends a code to it, and tells the old one. The profile changes with
    /// `confirmEmail`. Calling again after `resendAfter` sends the same code once more.
    ///
    /// The user must have proved to be present in the last five minutes, with a second factor if there is one, or `password` does:
    /// otherwise the error is `presenceRequired`.
    public func changeEmail(to email: String, password: String? = nil) async throws(SojournError) -> EmailChange {
        let answer = try await keyed(.change(.changeEmail(email, password: password, language: configuration.language)))
        guard let members = JSONValue(parsing: answer.body)?.members, let expiresAt = members.integer("expires_at")
        else { throw Self.notAnAnswer(answer) }
        return EmailChange(
            email: email, codeLength: Int(clamping: members.integer("code_length") ?? 8), expiresAt: expiresAt,
            resendAfter: now + (members.integer("resend_after") ?? 0))
    }

    /// Ends the change by the code of the mail. It belongs to this session: no other device can confirm it.
    ///
    /// Throws `refused` with the code `invalid_code` and `attemptsLeft`, `verification_over`, or `email_taken` if the mailbox
    /// belongs to another user by now. The old mailbox can undo the change for seven days.
    @discardableResult
    public func confirmEmail(code: String) async throws(SojournError) -> Account {
        let known = try await current()?.record.session?.account.email
        do throws(SojournError) { return try await store(profile: try await keyed(.change(.confirmEmail(code)))) } catch
        {
            // The answer to an earlier try may have been lost: the profile says whether it has succeeded.
            guard case .refused(let refusal) = error, refusal.code == "verification_over",
                let account = try? await refreshProfile(), account.email != known
            else { throw error }
            return account
        }
    }
}
