/// A change of the user's profile. What is `unchanged` stays.
public struct ProfileChange: Hashable, Sendable {
    /// What becomes of a member.
    public enum Member: Hashable, Sendable {
        case unchanged
        case cleared
        case set(String)
    }

    /// The username, where the server lets users change it. The user must have proved to be present in the last five minutes.
    public var username = Member.unchanged
    /// The name for people.
    public var displayName = Member.unchanged
    /// The given name.
    public var givenName = Member.unchanged
    /// The family name.
    public var familyName = Member.unchanged
    /// The country (ISO 3166-1).
    public var country = Member.unchanged
    /// The telephone number. The user must have proved to be present in the last five minutes.
    public var phoneNumber = Member.unchanged

    /// A change of nothing.
    public init() {}

    /// The members of the request.
    var members: [String: JSONValue] {
        var members: [String: JSONValue] = [:]
        let values = [
            ("username", username), ("display_name", displayName), ("given_name", givenName),
            ("family_name", familyName), ("country", country), ("phone_number", phoneNumber),
        ]
        for (name, value) in values {
            switch value {
            case .unchanged: break
            case .cleared: members[name] = .null
            case .set(let text): members[name] = .string(text)
            }
        }
        return members
    }
}

extension Sojourn {
    /// Changes the profile, and stores it.
    ///
    /// Throws `refused` with the code `not_editable` for a member that the server keeps to itself, and `invalid_request` with
    /// `member` for a value against its rules.
    @discardableResult
    public func updateProfile(_ change: ProfileChange) async throws(SojournError) -> Account {
        try await store(profile: try await keyed(.change(.updateProfile(change))))
    }

    /// Asks the server to delete the account, and signs the user out on this device. Logins stop at once, on all devices; the user
    /// has some days for `cancelDeletion`.
    ///
    /// The user must have proved to be present in the last five minutes, with a second factor if there is one, or `password` does:
    /// otherwise the error is `presenceRequired`.
    ///
    /// - Returns: when the account will be deleted, in Unix seconds of the server. Nil: it is deleted, or the answer with the time
    ///   was lost.
    @discardableResult
    public func deleteAccount(password: String? = nil) async throws(SojournError) -> Int64? {
        let call = AccountCall.change(.deleteAccount(password: password, language: configuration.language))
        var wasLost = false
        var time: Int64?
        do throws(SojournError) {
            let answer = try await answer(until: try call.message(to: try server()), of: call, wasLost: &wasLost)
            time = JSONValue(parsing: answer.body)?.members?.integer("delete_at")
        } catch {
            // The session has ended meanwhile, or logins are off: that was the try without an answer.
            switch error {
            case .ended(.userDeleted), .ended(.revokedByUser), .suspended: if !wasLost { throw error }
            default: throw error
            }
        }
        await leave(owing: false)
        return time
    }

    /// Signs the user of an account in that waits for its deletion, and keeps the account. An ordinary login is `refused` with the
    /// code `deletion_pending` then. An account that waits for nothing is signed in to as ever.
    @discardableResult
    public func cancelDeletion(
        username: String, password: String, mode: AuthenticationMode = .no, reason: String = PresencePrompt.reason
    ) async throws(SojournError) -> Account {
        try await signIn(
            .password(username: username, password: password), mode, reason, cancelsDeletion: true)
    }

    /// Signs the user in by a passkey, and keeps the account that waits for its deletion.
    @discardableResult
    public func cancelDeletion(
        passkey authenticator: any PasskeyAuthenticator, mode: AuthenticationMode = .no,
        reason: String = PresencePrompt.reason
    ) async throws(SojournError) -> Account {
        try await signIn(by: authenticator, mode, reason, cancelsDeletion: true)
    }
}
