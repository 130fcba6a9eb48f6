/// An authenticator app of the user, as the server keeps it.
public struct Authenticator: Hashable, Sendable, Identifiable {
    /// The ID.
    public let id: String
    /// The name in lists.
    public let name: String
    /// When it was added, in Unix seconds.
    public let createdAt: Int64
    /// When one of its codes was last used, in Unix seconds; nil: never.
    public let lastUsedAt: Int64?
}

/// The second factors of the user.
public struct SecondFactors: Hashable, Sendable {
    /// The authenticator apps, the oldest first.
    public let authenticators: [Authenticator]
    /// How many recovery codes are left.
    public let recoveryCodesLeft: Int
    /// Whether no code of an authenticator app is taken, after too many wrong ones, until a recovery code, a passkey or an admin.
    public let isBlocked: Bool
}

/// An authenticator app that is being added. The server forgets it after ten minutes without `confirm`.
public struct NewAuthenticator: Sendable, Identifiable {
    /// The ID.
    public let id: String
    /// The secret in Base32, for typing.
    public let secret: String
    /// The secret as `otpauth:`, for a link or a picture.
    public let uri: String
    /// The login that it ends; nil: the user is signed in.
    let login: SecondFactorLogin?
    let sojourn: Sojourn

    /// Adds the authenticator by its first code, and ends the login to which it was added. The first authenticator of a user
    /// brings recovery codes, which are shown once: the app shows them at once. For a further one there are none.
    ///
    /// Throws `refused` with the code `wrong_second_factor` for a wrong code; the same value takes the next one. If the answer was
    /// lost, the next try makes the recovery codes anew.
    @discardableResult
    public func confirm(code: String, reason: String = PresencePrompt.reason) async throws(SojournError) -> [String] {
        guard let login else { return try await sojourn.confirmAuthenticator(id, code: code) }
        try await login.confirm(code: code, reason: reason)
        // The user is signed in, whatever comes of the recovery codes.
        return (try? await sojourn.makeRecoveryCodes()) ?? []
    }
}
